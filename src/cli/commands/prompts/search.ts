import type { Command } from 'commander';
import { MAX_QUERY_LENGTH, type PromptSearchRow } from '../../../wire/index.ts';
import type { Context, Host } from '../../context.ts';
import { ageOf } from '../../core/age.ts';
import { fieldText } from '../../core/json-value.ts';
import { usageError } from '../../errors.ts';
import { EXIT, type ExitCode } from '../../exit-codes.ts';
import { present } from '../../outputs/present.ts';
import { type Column, plainRows, terminalTable } from '../../terminal/table.ts';

const EXAMPLES = `
Examples:
  promptrun prompts search postcard
  promptrun prompts search weekly report --query '[].slug'

Piped, a line is: slug, prompt version, prompt, modality, estimated credits, time, title, description.`;

const COLUMNS: readonly Column[] = [
  { title: 'SLUG', min: 12 },
  { title: 'TITLE', min: 12, dropOrder: 6 },
  { title: 'PROMPT' },
  { title: 'TYPE', dropOrder: 5 },
  { title: 'CREDITS', align: 'right', dropOrder: 4 },
  { title: 'USES', align: 'right', dropOrder: 2 },
  { title: 'PUBLISHED', dropOrder: 1 },
  { title: 'DESCRIPTION', min: 16, dropOrder: 3 },
];

// By index (service-facts, search); video prompts are not found.
const MODALITY_NAMES = ['text', 'image'];

export function declarePromptsSearch(command: Command, host: Host, run = promptsSearch): void {
  command
    .argument('<words...>', 'what to look for')
    .addHelpText('after', EXAMPLES)
    .action((words: string[]) => host.runAction(command, ctx => run(ctx, { words })));
}

/** Finds prompts, best match first. */
export async function promptsSearch(
  ctx: Context,
  { words }: { readonly words: readonly string[] },
): Promise<ExitCode> {
  const query = searchQuery(words);
  const { client } = await ctx.connection();
  const { rows } = await client.prompts.search(query, { signal: ctx.signal });
  await present(ctx, rows, {
    terminal: () => (rows.length === 0 ? 'no prompts found\n' : resultsTable(ctx, rows)),
    plain: () => plainRows(rows.map(plainCells)),
    paged: true,
  });
  return EXIT.ok;
}

function searchQuery(words: readonly string[]): string {
  const query = words.join(' ').trim();
  if (query === '')
    throw usageError('there is nothing to search for', 'for example: promptrun prompts search postcard');
  const { length } = Array.from(query);
  if (length <= MAX_QUERY_LENGTH) return query;
  throw usageError(
    `the search is ${length} characters long; at most ${MAX_QUERY_LENGTH} are possible`,
    'give fewer words',
  );
}

function resultsTable(ctx: Context, rows: readonly PromptSearchRow[]): Promise<string> {
  return terminalTable(
    ctx.io,
    COLUMNS,
    rows.map(row => [
      fieldText(row.slug),
      fieldText(row.title),
      fieldText(row.promptId),
      modalityName(row),
      fieldText(row.estimatedCredits),
      fieldText(row.uses),
      ageOf(fieldText(row.publishedAt), ctx.clock.now()),
      fieldText(row.description),
    ]),
  );
}

function plainCells(row: PromptSearchRow): string[] {
  return [
    fieldText(row.slug),
    fieldText(row.promptVersionId),
    fieldText(row.promptId),
    modalityName(row),
    fieldText(row.estimatedCredits),
    fieldText(row.publishedAt),
    fieldText(row.title),
    fieldText(row.description),
  ];
}

function modalityName({ modality }: { readonly modality: unknown }): string {
  return MODALITY_NAMES[Number(modality)] ?? fieldText(modality);
}
