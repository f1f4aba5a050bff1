import { textOrNothing } from '../../../files/formats/json-fields.ts';
import { listAt, valueAt } from '../../../utils/bounded-json.ts';
import type { PromptVersionEntry } from '../../../wire/index.ts';
import type { Context } from '../../context.ts';
import { ageText } from '../../core/durations.ts';
import { notFoundError } from '../../core/errors.ts';
import { shownPath } from '../../core/paths.ts';
import { type ListColumn, presentList } from '../../outputs/present.ts';
import { presentPromptVersion } from '../../outputs/prompt-details.ts';
import { unlessNotFound } from '../../targets/not-found.ts';
import { connectionFor, findPromptFile } from '../../targets/prompt-file.ts';
import { askOfPrompt, resolvePrompt } from '../../targets/prompt-name.ts';
import { resolveTarget } from '../../targets/resolve-target.ts';
import { oneLine } from '../../terminal/sanitise.ts';

/** Lists the published versions of a prompt, newest first. */
export async function versionsList(ctx: Context, prompt: string): Promise<void> {
  const versions = await publishedVersions(ctx, prompt);
  const hasLabels = versions.some(
    ({ labels, history }) => listAt(labels).length + listAt(history).length > 0,
  );
  const now = ctx.clock.now();
  const columns = [...versionColumns(now), ...(hasLabels ? labelColumns(now) : [])];
  await presentList(ctx, versions, { columns });
}

/** Fetches the published versions of a prompt. @throws {CliError} exit 4 if nothing is published under the slug of a file */
async function publishedVersions(ctx: Context, prompt: string): Promise<readonly PromptVersionEntry[]> {
  const connection = await connectionFor(ctx, prompt);
  const namedPrompt = await resolvePrompt(ctx, connection, prompt);
  const listing = askOfPrompt(connection, namedPrompt, ctx.signal, ({ promptId }) =>
    connection.client.versions.list(promptId, { signal: ctx.signal }),
  );
  const file = findPromptFile(ctx, prompt, 'command line');
  const versionList = file === undefined ? await listing : await unlessNotFound(listing);
  if (versionList !== undefined) return versionList.versions;
  throw notFoundError(
    `nothing is published under the slug of ${prompt}`,
    `To publish the file: ${connection.advise('prompts', 'publish', shownPath(ctx, file?.path ?? prompt))}`,
  );
}

function versionColumns(now: number): ListColumn<PromptVersionEntry>[] {
  return [
    { title: 'PROMPT VERSION', ids: true, cell: ({ promptVersionId }) => textOrNothing(promptVersionId) },
    {
      title: 'PUBLISHED',
      min: 8,
      cell: ({ publishedAt }) => ageText(textOrNothing(publishedAt), now),
      plain: ({ publishedAt }) => textOrNothing(publishedAt),
    },
    { title: '', cell: ({ isLatest }) => (isLatest === true ? 'latest' : '') },
  ];
}

function labelColumns(now: number): ListColumn<PromptVersionEntry>[] {
  const moves = (history: unknown, formatTime: (at: string) => string): string =>
    listAt(history)
      .map(move => moveText(move, formatTime))
      .join('; ');
  return [
    { title: 'LABELS', cell: ({ labels }) => listAt(labels).map(textOrNothing).join(', ') },
    {
      title: 'MOVED',
      dropOrder: 1,
      cell: ({ history }) => moves(history, at => ageText(at, now)),
      plain: ({ history }) => moves(history, at => at),
    },
  ];
}

/** Describes a move of a label, in the row of the version that it came to or left. */
function moveText(move: unknown, formatTime: (at: string) => string): string {
  const text = (field: string): string => textOrNothing(valueAt(move, field));
  const shortId = (field: string): string => text(field).slice(0, 8);
  const arrival = text('from') === '' ? 'set' : `moved from ${shortId('from')}`;
  const step = text('to') === '' ? 'removed' : arrival;
  return oneLine(`${text('label')} ${step} by ${text('by')} ${formatTime(text('at'))}`);
}

/** Shows a version of a prompt and its expected inputs. */
export async function versionsGet(ctx: Context, promptVersionId: string): Promise<void> {
  const connection = await connectionFor(ctx, promptVersionId);
  const target = await resolveTarget(ctx, connection, promptVersionId, { source: 'command line' });
  const version = await connection.client.versions.get(target.promptVersionId, { signal: ctx.signal });
  connection.prompts.put(version);
  await presentPromptVersion(ctx, version, connection);
}
