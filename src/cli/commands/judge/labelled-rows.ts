import type { Context } from '../../context.ts';
import { usageError } from '../../core/errors.ts';
import { isFaulty, type ReadableRow } from '../../inputs/rows/row.ts';
import { openSource, readRows, type SourceFlags } from '../../inputs/rows/row-source.ts';

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
 * @param rubric the rubric of rows without their own
 * @throws {CliError} USAGE_ERROR with the line of the first invalid row
 */
export async function readLabels(
  ctx: Context,
  flags: SourceFlags,
  rubric: string | undefined,
): Promise<LabelledRow[]> {
  const source = await openSource(ctx, flags, 'labels');
  const rows: LabelledRow[] = [];
  for await (const row of readRows(source, ctx.signal)) {
    const where = `${source.name}:${row.line}`;
    if (isFaulty(row)) throw usageError(`${where}: ${row.fault}`);
    rows.push(readLabelledRow(row, where, rubric));
  }

  if (rows.length === 0) throw usageError(`${source.name} has no rows`);
  return rows;
}

function readLabelledRow(
  { row, id, cells, inputs: { text } }: ReadableRow,
  where: string,
  common: string | undefined,
): LabelledRow {
  const findCell = (name: string): string | undefined => text.get(name) ?? cells?.[name];
  const output = findCell('output');
  if (output === undefined) throw usageError(`${where}: the output is missing`, LABEL_COLUMNS);

  const rubric = text.get('rubric') ?? common;
  if (rubric === undefined || rubric === '') {
    throw usageError(
      `${where}: the rubric is missing`,
      'Give the row one, or all of them with --rubric.',
    );
  }

  const labelText = findCell('label')?.trim().toLowerCase();
  if (labelText === undefined) throw usageError(`${where}: the label is missing`, LABEL_COLUMNS);

  const label = LABELS.get(labelText);
  if (label !== undefined) return { row, id, output, rubric, label };
  throw usageError(`${where}: the label ${JSON.stringify(labelText)} is not ${LABEL_FORMS}`);
}

const LABEL_COLUMNS = 'Rows have output, rubric and label.';
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
