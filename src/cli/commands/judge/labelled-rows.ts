import type { Context } from '../../context.ts';
import { usageError } from '../../core/errors.ts';
import { isFaulty, type ReadableRow } from '../../inputs/rows/row.ts';
import { openRowSource, readRows, type SourceFlags } from '../../inputs/rows/row-source.ts';

const LABEL_COLUMNS_HINT = 'Rows have output, rubric and label.';
const EXPECTED_LABELS = 'pass or fail, yes or no, true or false, 1 or 0';

const LABEL_VALUES: ReadonlyMap<string, boolean> = new Map([
  ['pass', true],
  ['yes', true],
  ['true', true],
  ['1', true],
  ['fail', false],
  ['no', false],
  ['false', false],
  ['0', false],
]);

/** An answer with a person's verdict on it. */
export interface LabelledRow {
  readonly row: number;
  readonly id: string;
  readonly output: string;
  readonly rubric: string;
  /** True if the answer passes, by the person's verdict. */
  readonly label: boolean;
}

/**
 * Reads labelled answers.
 *
 * @param commonRubric the rubric of rows without their own
 * @throws {CliError} USAGE_ERROR with the line of the first invalid row
 */
export async function readLabelledRows(
  ctx: Context,
  flags: SourceFlags,
  commonRubric: string | undefined,
): Promise<LabelledRow[]> {
  const source = await openRowSource(ctx, flags, 'labels');
  const rows: LabelledRow[] = [];
  for await (const row of readRows(source, ctx.signal)) {
    const location = `${source.name}:${row.line}`;
    if (isFaulty(row)) throw usageError(`${location}: ${row.fault}`);
    rows.push(readLabelledRow(row, location, commonRubric));
  }

  if (rows.length === 0) throw usageError(`${source.name} has no rows`);
  return rows;
}

function readLabelledRow(
  { row, id, cells, inputs: { text } }: ReadableRow,
  location: string,
  commonRubric: string | undefined,
): LabelledRow {
  const findCell = (column: string): string | undefined => text.get(column) ?? cells?.[column];
  const output = findCell('output');
  if (output === undefined) {
    throw usageError(`${location}: the output is missing`, LABEL_COLUMNS_HINT);
  }

  const rubric = text.get('rubric') ?? commonRubric;
  if (rubric === undefined || rubric === '') {
    throw usageError(
      `${location}: the rubric is missing`,
      'Give the row one, or all of them with --rubric.',
    );
  }

  const labelText = findCell('label')?.trim().toLowerCase();
  if (labelText === undefined) {
    throw usageError(`${location}: the label is missing`, LABEL_COLUMNS_HINT);
  }

  const label = LABEL_VALUES.get(labelText);
  if (label !== undefined) return { row, id, output, rubric, label };
  throw usageError(`${location}: the label ${JSON.stringify(labelText)} is not ${EXPECTED_LABELS}`);
}
