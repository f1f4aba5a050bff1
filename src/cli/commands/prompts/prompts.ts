import type { Command } from 'commander';
import { NotFoundError } from '../../../client/errors.ts';
import { textOrNothing } from '../../../files/formats/json-fields.ts';
import { isUuid, MAX_QUERY_LENGTH, type PromptSearchRow } from '../../../wire/index.ts';
import type { Connection, Context } from '../../context.ts';
import type { FlagsOf } from '../../core/command-spec.ts';
import { ageText } from '../../core/durations.ts';
import { usageError } from '../../core/errors.ts';
import { type ListForm, presentList } from '../../outputs/present.ts';
import { type Pages, presentPages } from '../../outputs/present-pages.ts';
import { presentPromptVersion } from '../../outputs/prompt-details.ts';
import { resolveAddress } from '../../settings/config/address.ts';
import { connectionFor } from '../../targets/prompt-file.ts';
import { readNamed } from '../../targets/prompt-name.ts';
import { withSpinner } from '../../terminal/spinner.ts';
import type { PROMPTS_GET } from './spec.ts';

/** Handles `prompts` without a verb: lists the prompts of the embedded service, otherwise prints the help. */
export async function prompts(ctx: Context, _flags: object, command: Command): Promise<void> {
  if (resolveAddress(ctx).embedded) return promptsList(ctx);
  command.outputHelp();
}

/** Lists every published prompt of the service, newest first. */
export async function promptsList(ctx: Context): Promise<void> {
  const connection = await ctx.connection();
  await presentPages(ctx, promptPages(connection, ctx.signal), {
    noun: 'prompts',
    ...promptForm(ctx, 'no prompts\n'),
  });
}

async function* promptPages(
  { client, baseUrl, advise }: Connection,
  signal: AbortSignal,
): Pages<PromptSearchRow> {
  let isFirst = true;
  try {
    for await (const { rows } of client.prompts.pages({}, { signal })) {
      isFirst = false;
      yield rows;
    }
  } catch (error) {
    if (!(error instanceof NotFoundError) || !isFirst) throw error;
    throw usageError(
      `${new URL(baseUrl).host} does not list its prompts`,
      `Search them with: ${advise('prompts', 'search')} <words>`,
    );
  }
}

export async function promptsSearch(ctx: Context, words: readonly string[]): Promise<void> {
  const query = quotedQuery(words);
  const { client } = await ctx.connection();
  const { rows } = await withSpinner(ctx, 'searching', client.prompts.search(query, { signal: ctx.signal }));
  await presentList(ctx, rows, promptForm(ctx, 'no prompts found\n'));
}

function quotedQuery(words: readonly string[]): string {
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

// The index is the modality's number; the search finds no video prompts.
const MODALITY_NAMES = ['text', 'image'];

/** Returns the form of a list of prompts. @param emptyText the text for an empty list on a terminal */
function promptForm(ctx: Context, emptyText: string): ListForm<PromptSearchRow> {
  const age = (row: PromptSearchRow): string => ageText(textOrNothing(row.publishedAt), ctx.clock.now());
  return {
    columns: [
      { title: 'SLUG', min: 12, cell: row => textOrNothing(row.slug) },
      { title: 'TITLE', min: 12, dropOrder: 6, cell: row => textOrNothing(row.title) },
      { title: 'PROMPT', ids: true, cell: row => textOrNothing(row.promptId) },
      { title: 'TYPE', dropOrder: 5, cell: modalityName },
      { title: 'CREDITS', align: 'right', dropOrder: 4, cell: row => textOrNothing(row.estimatedCredits) },
      { title: 'USES', align: 'right', dropOrder: 2, cell: row => textOrNothing(row.uses) },
      { title: 'PUBLISHED', dropOrder: 1, cell: age },
      { title: 'DESCRIPTION', min: 16, dropOrder: 3, cell: row => textOrNothing(row.description) },
    ],
    cells: row => [
      textOrNothing(row.slug),
      textOrNothing(row.promptVersionId),
      textOrNothing(row.promptId),
      modalityName(row),
      textOrNothing(row.estimatedCredits),
      textOrNothing(row.publishedAt),
      textOrNothing(row.title),
      textOrNothing(row.description),
    ],
    nothing: emptyText,
  };
}

function modalityName({ modality }: { readonly modality: unknown }): string {
  return MODALITY_NAMES[Number(modality)] ?? textOrNothing(modality);
}

/** Shows a prompt: title, version, expected inputs, and on the local service its template. */
export async function promptsGet(
  ctx: Context,
  prompt: string,
  { versionId }: FlagsOf<typeof PROMPTS_GET.flags>,
): Promise<void> {
  const connection = await connectionFor(ctx, prompt);
  const reading = readNamed(ctx, connection, prompt, versionId);
  const version = await withSpinner(ctx, 'asking for the prompt', reading);
  const isId = versionId !== undefined || isUuid(prompt);
  await presentPromptVersion(ctx, version, connection, ...(isId ? [] : [prompt]));
}
