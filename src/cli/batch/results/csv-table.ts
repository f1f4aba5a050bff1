import { createReadStream } from 'node:fs';
import { isObject } from '../../core/json-value.ts';
import { usageError } from '../../errors.ts';
import { readTable } from '../rows/csv.ts';
import type { ResultsLine } from './results-line.ts';

/** Columns that every table of results has, after the rows' own. */
export const FIXED = ['runId', 'runStatus', 'error'];

export type Cells = Readonly<Record<string, string>>;

/** A result as it is written, and as the journal keeps it. */
export interface Kept {
  readonly row: number;
  /** The row's own columns. */
  readonly cells: Cells;
  /** runId, runStatus, error, and each output. */
  readonly values: readonly string[];
}

export function keptOf(
  { runId, runStatus, error, outputs }: ResultsLine,
  { row, cells = {} }: { readonly row: number; readonly cells?: Cells },
): Kept {
  return { row, cells, values: [runId ?? '', runStatus, error ?? '', ...outputs.map(({ data }) => data)] };
}

export function isKept(value: unknown): value is Kept {
  return isObject(value) && isObject(value['cells']) && Array.isArray(value['values']);
}

/** The results in a table that a batch has written. @throws {CliError} where it is another table */
export async function readKept(file: string, given: string): Promise<Kept[]> {
  const [header = [], ...records] = await readTable(
    createReadStream(file, { encoding: 'utf8' }) as AsyncIterable<string>,
  );
  const at = header.findIndex((_, column) => FIXED.every((name, next) => header[column + next] === name));
  if (header.length > 0 && at === -1) {
    throw usageError(`${given}: this is not a table of results of a batch`, 'name the file the batch wrote');
  }
  return records.map((record, row) => ({
    row: row + 1,
    cells: Object.fromEntries(header.slice(0, at).map((name, column) => [name, record[column] ?? ''])),
    values: withoutEmptyEnd(record.slice(at)),
  }));
}

function withoutEmptyEnd(values: readonly string[]): string[] {
  const last = values.findLastIndex(value => value !== '');
  return values.slice(0, Math.max(FIXED.length, last + 1));
}

export function sameCells(one: Cells, other: Cells): boolean {
  const names = new Set([...Object.keys(one), ...Object.keys(other)]);
  return [...names].every(name => (one[name] ?? '') === (other[name] ?? ''));
}

/** The columns of a table. */
export interface Columns {
  /** The rows' own. */
  readonly own: readonly string[];
  /** How many outputs the widest result has. */
  readonly outputs: number;
}

export function headerOf({ own, outputs }: Columns): string {
  const numbered = Array.from({ length: outputs }, (_, at) => `output${at + 1}`);
  return `${[...own, ...FIXED, ...numbered].map(quoted).join(',')}\n`;
}

/** A result as a line, in two parts: the cells of the row's own columns, and the values with the line's end. */
export function lineParts({ own, outputs }: Columns, { cells, values }: Kept): readonly [string, string] {
  const missing = Array<string>(Math.max(0, FIXED.length + outputs - values.length)).fill('');
  return [
    own.map(name => quoted(cells[name] ?? '')).join(','),
    `${[...values, ...missing].map(quoted).join(',')}\n`,
  ];
}

export function joined([own, values]: readonly [string, string], hasOwn: boolean): string {
  return hasOwn ? `${own},${values}` : values;
}

function quoted(value: string): string {
  return /[",\r\n]/u.test(value) ? `"${value.replaceAll('"', '""')}"` : value;
}
