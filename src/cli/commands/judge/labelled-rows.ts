import type { Context } from '../../context.ts';
import { usageError } from '../../core/errors.ts';
import { isFaulty, type ReadableRow } from '../../inputs/rows/row.ts';
import { openSource, readRows, type SourceFlags } from '../../inputs/rows/row-source.ts';

const LABEL_COLUMNS_HINT = 'Rows have output, rubric and label.';
const LABEL_FORMS = 'pass or fail, yes or no, true or false, 1 or 0';

const LABELS: ReadonlyMap<string, boolean> = new Map([
  ['pass', true],
  ['yes', true],
  ['true', true],
  ['1', true],
  ['fail', false],
  ['no', false],
  ['false', false],
  ['0', false],
]);

/** An answer with a label. */
export interface LabelledRow {
  readonly row: number;
  readonly id: string;
  readonly output: string;
  readonly rubric: string;
  /** True if the answer passes. */
  readonly label: boolean;
}

/**
 * Reads labelled answers.
 *
 * @param commonRubric the rubric of rows without their own
 * @throws {CliError} USAGE_ERROR with the line of the first invalid row
 */
export async function readLabels(
  ctx: Context,
  flags: SourceFlags,
  commonRubric: string | undefined,
): Promise<LabelledRow[]> {
  const source = await openSource(ctx, flags, 'labels');
  const rows: LabelledRow[] = [];
  for await (const row of readRows(source, ctx.signal)) {
    const place = `${source.name}:${row.line}`;
    if (isFaulty(row)) throw usageError(`${place}: ${row.fault}`);
    rows.push(readLabelledRow(row, place, commonRubric));
  }

  if (rows.length === 0) throw usageError(`${source.name} has no rows`);
  return rows;
}

function readLabelledRow(
  { row, id, cells, inputs: { text } }: ReadableRow,
  place: string,
  commonRubric: string | undefined,
): LabelledRow {
  const findCell = (column: string): string | undefined => text.get(column) ?? cells?.[column];
  const output = findCell('output');
  if (output === undefined) throw usageError(`${place}: the output is missing`, LABEL_COLUMNS_HINT);

  const rubric = text.get('rubric') ?? commonRubric;
  if (rubric === undefined || rubric === '') {
    throw usageError(
      `${place}: the rubric is missing`,
      'Give the row one, or all of them with --rubric.',
    );
  }

  const labelText = findCell('label')?.trim().toLowerCase();
  if (labelText === undefined) {
    throw usageError(`${place}: the label is missing`, LABEL_COLUMNS_HINT);
  }

  const label = LABELS.get(labelText);
  if (label !== undefined) return { row, id, output, rubric, label };
  throw usageError(`${place}: the label ${JSON.stringify(labelText)} is not ${LABEL_FORMS}`);
}
