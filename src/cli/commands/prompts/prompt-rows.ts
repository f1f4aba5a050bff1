import type { PromptSearchRow } from '../../../wire/index.ts';
import type { Context } from '../../context.ts';
import { ageOf } from '../../core/age.ts';
import { fieldText } from '../../core/json-value.ts';
import { present } from '../../outputs/present.ts';
import { type Column, plainRows, terminalTable } from '../../terminal/table.ts';

/** What the help says of the lines that a program reads. */
export const PLAIN_PROMPT_ROW =
  'Piped, a line is: slug, prompt version, prompt, modality, estimated credits, time, title, description.';

const COLUMNS: readonly Column[] = [
  { title: 'SLUG', min: 12 },
  { title: 'TITLE', min: 12, dropOrder: 6 },
  { title: 'PROMPT', ids: true },
  { title: 'TYPE', dropOrder: 5 },
  { title: 'CREDITS', align: 'right', dropOrder: 4 },
  { title: 'USES', align: 'right', dropOrder: 2 },
  { title: 'PUBLISHED', dropOrder: 1 },
  { title: 'DESCRIPTION', min: 16, dropOrder: 3 },
];

// By index (service-facts, search); video prompts are not found.
const MODALITY_NAMES = ['text', 'image'];

/** Shows prompts in the order given. @param nothing what a terminal shows where there are none */
export function presentPrompts(
  ctx: Context,
  rows: readonly PromptSearchRow[],
  nothing: string,
): Promise<void> {
  return present(ctx, rows, {
    terminal: () => (rows.length === 0 ? nothing : resultsTable(ctx, rows)),
    plain: () => plainRows(rows.map(plainCells)),
    paged: true,
  });
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
