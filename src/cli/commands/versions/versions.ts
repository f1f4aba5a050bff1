import { toTextOrEmpty } from '../../../files/formats/json-fields.ts';
import { readListAt, readValueAt } from '../../../utils/bounded-json.ts';
import type { PromptVersionEntry } from '../../../wire/index.ts';
import type { Context } from '../../context.ts';
import { formatIsoAge } from '../../core/durations.ts';
import { notFoundError } from '../../core/errors.ts';
import { formatPath } from '../../core/paths.ts';
import { type ListColumn, presentList } from '../../outputs/present.ts';
import { presentPromptVersion } from '../../outputs/prompt-details.ts';
import { unlessNotFound } from '../../targets/not-found.ts';
import { findPromptFile, getTargetConnection } from '../../targets/prompt-file.ts';
import { requestAboutPrompt, resolvePrompt } from '../../targets/prompt-name.ts';
import { resolveTarget } from '../../targets/resolve-target.ts';
import { toOneLine } from '../../terminal/sanitise.ts';

/** Lists the published versions of a prompt, newest first. */
export async function printVersions(ctx: Context, prompt: string): Promise<void> {
  const versions = await fetchPublishedVersions(ctx, prompt);
  const hasLabels = versions.some(
    ({ labels, history }) => readListAt(labels).length + readListAt(history).length > 0,
  );
  const now = ctx.clock.now();
  const columns = [...createVersionColumns(now), ...(hasLabels ? createLabelColumns(now) : [])];
  await presentList(ctx, versions, { columns });
}

/**
 * Fetches the published versions of a prompt.
 *
 * @throws {CliError} exit 4 if nothing is published under the slug of a file
 */
async function fetchPublishedVersions(
  ctx: Context,
  prompt: string,
): Promise<readonly PromptVersionEntry[]> {
  const connection = await getTargetConnection(ctx, prompt);
  const namedPrompt = await resolvePrompt(ctx, connection, prompt);
  const listRequest = requestAboutPrompt(connection, namedPrompt, ctx.signal, ({ promptId }) =>
    connection.client.versions.list(promptId, { signal: ctx.signal }),
  );
  const file = findPromptFile(ctx, prompt, 'command line');
  const versionList = file === undefined ? await listRequest : await unlessNotFound(listRequest);
  if (versionList !== undefined) return versionList.versions;

  throw notFoundError(
    `nothing is published under the slug of ${prompt}`,
    `To publish the file: ${connection.formatCommand('prompts', 'publish', formatPath(ctx, file?.path ?? prompt))}`,
  );
}

function createVersionColumns(now: number): ListColumn<PromptVersionEntry>[] {
  return [
    {
      title: 'PROMPT VERSION',
      hasIds: true,
      cell: ({ promptVersionId }) => toTextOrEmpty(promptVersionId),
    },
    {
      title: 'PUBLISHED',
      minWidth: 8,
      cell: ({ publishedAt }) => formatIsoAge(toTextOrEmpty(publishedAt), now),
      plain: ({ publishedAt }) => toTextOrEmpty(publishedAt),
    },
    { title: '', cell: ({ isLatest }) => (isLatest === true ? 'latest' : '') },
  ];
}

function createLabelColumns(now: number): ListColumn<PromptVersionEntry>[] {
  const formatMoves = (history: unknown, formatTime: (at: string) => string): string =>
    readListAt(history)
      .map(move => formatMove(move, formatTime))
      .join('; ');
  return [
    { title: 'LABELS', cell: ({ labels }) => readListAt(labels).map(toTextOrEmpty).join(', ') },
    {
      title: 'MOVED',
      dropOrder: 1,
      cell: ({ history }) => formatMoves(history, at => formatIsoAge(at, now)),
      plain: ({ history }) => formatMoves(history, at => at),
    },
  ];
}

/** Describes the move of a label to or from a version. */
function formatMove(move: unknown, formatTime: (at: string) => string): string {
  const readMoveField = (field: string): string => toTextOrEmpty(readValueAt(move, field));
  const shortenId = (field: string): string => readMoveField(field).slice(0, 8);
  const moveText = readMoveField('from') === '' ? 'set' : `moved from ${shortenId('from')}`;
  const action = readMoveField('to') === '' ? 'removed' : moveText;
  return toOneLine(
    `${readMoveField('label')} ${action} by ${readMoveField('by')} ${formatTime(readMoveField('at'))}`,
  );
}

/** Shows a version of a prompt and its expected inputs. */
export async function printVersion(ctx: Context, promptVersionId: string): Promise<void> {
  const connection = await getTargetConnection(ctx, promptVersionId);
  const target = await resolveTarget(ctx, connection, promptVersionId, { source: 'command line' });
  const version = await connection.client.versions.get(target.promptVersionId, {
    signal: ctx.signal,
  });
  connection.prompts.put(version);
  await presentPromptVersion(ctx, version, connection);
}
