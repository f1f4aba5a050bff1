import type { Command } from 'commander';
import { NotFoundError } from '../../../client/errors.ts';
import { toTextOrEmpty } from '../../../files/formats/json-fields.ts';
import { isUuid, MAX_QUERY_LENGTH, type PromptSearchRow } from '../../../wire/index.ts';
import type { Connection, Context } from '../../context.ts';
import type { FlagsOf } from '../../core/command-spec.ts';
import { formatIsoAge } from '../../core/durations.ts';
import { usageError } from '../../core/errors.ts';
import { type ListForm, presentList } from '../../outputs/present.ts';
import { type Pages, presentPages } from '../../outputs/present-pages.ts';
import { presentPromptVersion } from '../../outputs/prompt-details.ts';
import { resolveAddress } from '../../settings/config/address.ts';
import { getTargetConnection } from '../../targets/prompt-file.ts';
import { readNamedPrompt } from '../../targets/prompt-name.ts';
import { withSpinner } from '../../terminal/spinner.ts';
import type { PROMPTS_GET } from './spec.ts';

/**
 * Handles `prompts` without a verb: lists the prompts of the embedded service, otherwise prints the
 * help.
 */
export async function printPromptsOrHelp(
  ctx: Context,
  _flags: object,
  command: Command,
): Promise<void> {
  if (resolveAddress(ctx).isEmbedded) return printPromptList(ctx);
  command.outputHelp();
}

/** Lists every published prompt of the service, newest first. */
export async function printPromptList(ctx: Context): Promise<void> {
  const connection = await ctx.connection();
  await presentPages(ctx, fetchPromptPages(connection, ctx.signal), {
    noun: 'prompts',
    ...createPromptForm(ctx, 'no prompts\n'),
  });
}

async function* fetchPromptPages(
  { client, baseUrl, formatCommand }: Connection,
  signal: AbortSignal,
): Pages<PromptSearchRow> {
  let isFirstPage = true;
  try {
    for await (const { rows } of client.prompts.pages({}, { signal })) {
      isFirstPage = false;
      yield rows;
    }
  } catch (error) {
    if (!(error instanceof NotFoundError) || !isFirstPage) throw error;
    throw usageError(
      `${new URL(baseUrl).host} does not list its prompts`,
      `Search them with: ${formatCommand('prompts', 'search')} <words>`,
    );
  }
}

export async function printMatchingPrompts(ctx: Context, words: readonly string[]): Promise<void> {
  const query = requireQuery(words);
  const { client } = await ctx.connection();
  const { rows } = await withSpinner(
    ctx,
    'searching',
    client.prompts.search(query, { signal: ctx.signal }),
  );
  await presentList(ctx, rows, createPromptForm(ctx, 'no prompts found\n'));
}

function requireQuery(words: readonly string[]): string {
  const query = words.join(' ').trim();
  if (query === '') {
    throw usageError('nothing to search for', 'For example: promptrun prompts search postcard');
  }

  const { length } = Array.from(query);
  if (length <= MAX_QUERY_LENGTH) return query;

  throw usageError(
    `the search is ${length} characters long; at most ${MAX_QUERY_LENGTH} are allowed`,
    'Give fewer words.',
  );
}

// The index is the modality's number in the search, which finds no video prompts.
const MODALITY_NAMES = ['text', 'image'];

/**
 * Returns the form of a list of prompts.
 *
 * @param emptyText the text for an empty list on a terminal
 */
function createPromptForm(ctx: Context, emptyText: string): ListForm<PromptSearchRow> {
  const formatRowAge = (row: PromptSearchRow): string =>
    formatIsoAge(toTextOrEmpty(row.publishedAt), ctx.clock.now());
  return {
    columns: [
      { title: 'SLUG', minWidth: 12, cell: row => toTextOrEmpty(row.slug) },
      { title: 'TITLE', minWidth: 12, dropOrder: 6, cell: row => toTextOrEmpty(row.title) },
      { title: 'PROMPT', hasIds: true, cell: row => toTextOrEmpty(row.promptId) },
      { title: 'TYPE', dropOrder: 5, cell: formatModality },
      {
        title: 'CREDITS',
        align: 'right',
        dropOrder: 4,
        cell: row => toTextOrEmpty(row.estimatedCredits),
      },
      { title: 'USES', align: 'right', dropOrder: 2, cell: row => toTextOrEmpty(row.uses) },
      { title: 'PUBLISHED', dropOrder: 1, cell: formatRowAge },
      {
        title: 'DESCRIPTION',
        minWidth: 16,
        dropOrder: 3,
        cell: row => toTextOrEmpty(row.description),
      },
    ],
    cells: row => [
      toTextOrEmpty(row.slug),
      toTextOrEmpty(row.promptVersionId),
      toTextOrEmpty(row.promptId),
      formatModality(row),
      toTextOrEmpty(row.estimatedCredits),
      toTextOrEmpty(row.publishedAt),
      toTextOrEmpty(row.title),
      toTextOrEmpty(row.description),
    ],
    emptyText,
  };
}

function formatModality({ modality }: { readonly modality: unknown }): string {
  return MODALITY_NAMES[Number(modality)] ?? toTextOrEmpty(modality);
}

/** Shows a prompt: title, version, expected inputs, and on the local service its template. */
export async function printPrompt(
  ctx: Context,
  prompt: string,
  { versionId }: FlagsOf<typeof PROMPTS_GET.flags>,
): Promise<void> {
  const connection = await getTargetConnection(ctx, prompt);
  const versionPromise = readNamedPrompt(ctx, connection, prompt, versionId);
  const version = await withSpinner(ctx, 'asking for the prompt', versionPromise);
  const isId = versionId !== undefined || isUuid(prompt);
  await presentPromptVersion(ctx, version, connection, isId ? undefined : prompt);
}
