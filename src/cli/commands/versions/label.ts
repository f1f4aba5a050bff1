import { toTextOrEmpty } from '../../../files/formats/json-fields.ts';
import { findLabelFault, type PromptSearchRow } from '../../../wire/index.ts';
import type { Connection, Context } from '../../context.ts';
import type { FlagsOf } from '../../core/command-spec.ts';
import { notFoundError, usageError } from '../../core/errors.ts';
import { present } from '../../outputs/present.ts';
import { detectLocalService } from '../../targets/not-found.ts';
import { findPromptFile } from '../../targets/prompt-file.ts';
import { formatFindHint, requestAboutPrompt, resolvePrompt } from '../../targets/prompt-name.ts';
import { resolveVersion } from '../../targets/version-name.ts';
import { toOneLine } from '../../terminal/sanitise.ts';
import type { VERSIONS_LABEL } from './spec.ts';

/** Sets, moves or removes a label of a prompt. */
export async function changeLabel(
  ctx: Context,
  prompt: string,
  versionAndLabel: readonly string[],
  { remove }: FlagsOf<typeof VERSIONS_LABEL.flags>,
): Promise<void> {
  const { version, label } = parseVersionAndLabel(versionAndLabel, { isRemoval: remove === true });

  if (findPromptFile(ctx, prompt, 'command line') !== undefined) {
    throw usageError('a label belongs to a published prompt: give its slug, not a file');
  }

  const connection = await ctx.connection();
  if (!(await detectLocalService(connection, ctx.signal))) {
    throw usageError(
      `${new URL(connection.baseUrl).host} has no labels`,
      'Only the embedded service (--profile local) and a promptrun serve have labels.',
    );
  }

  const { slug, promptId } = await fetchPublishedPrompt(ctx, connection, prompt);
  const { prompts } = connection.client;
  const { signal } = ctx;
  const setLabel = async (versionName: string) => {
    const versionId = await resolveVersion(connection, { slug, promptId }, versionName, signal);
    return prompts.setLabel(slug, label, versionId, { signal });
  };

  const labelChange =
    version === undefined
      ? await prompts.removeLabel(slug, label, { signal })
      : await setLabel(version);
  await present(ctx, labelChange, { plain: () => toOneLine(describeLabelChange(labelChange)) });
}

function parseVersionAndLabel(
  words: readonly string[],
  { isRemoval }: { readonly isRemoval: boolean },
): { version: string | undefined; label: string } {
  const [firstWord = '', secondWord, ...extraWords] = words;
  const isComplete = (secondWord === undefined) === isRemoval && extraWords.length === 0;
  if (!isComplete) {
    throw usageError(
      isRemoval
        ? '--remove takes a prompt and a label'
        : 'a label takes a prompt, a version and the label',
      'For example: promptrun versions label hello 9b1f7c4e production',
    );
  }

  const label = secondWord ?? firstWord;
  const fault = findLabelFault(label);
  if (fault !== undefined) throw usageError(`${JSON.stringify(label)} is not a label: ${fault}`);
  return { version: isRemoval ? undefined : firstWord, label };
}

/** Returns a published prompt. @throws {CliError} exit 4 if it is not published */
async function fetchPublishedPrompt(
  ctx: Context,
  connection: Connection,
  prompt: string,
): Promise<PromptSearchRow> {
  const { prompts } = connection.client;
  const { signal } = ctx;
  const namedPrompt = await resolvePrompt(ctx, connection, prompt);

  const { promptId } = await requestAboutPrompt(connection, namedPrompt, signal, foundPrompt =>
    prompts.get(foundPrompt.promptId, { signal }),
  );
  for await (const row of prompts.all({}, { signal })) {
    if (row.promptId === promptId.toLowerCase()) return row;
  }

  throw notFoundError(`the published prompt ${prompt} does not exist`, formatFindHint(connection));
}

function describeLabelChange(labelChange: {
  label: string;
  slug: string;
  promptVersionId: string | null;
  previous: string | null;
}) {
  const { label, slug, promptVersionId, previous } = labelChange;
  const name = `${slug}@${label}`;
  if (promptVersionId === null) {
    return `removed ${name}, which pointed to ${toTextOrEmpty(previous)}`;
  }

  if (previous === null || previous === promptVersionId) {
    return `${name} points to ${promptVersionId}`;
  }

  return `${name} points to ${promptVersionId}, no longer to ${previous}`;
}
