import type { CollectedInputs } from '../text-inputs.ts';

/** The position of a row in its source. */
export interface RowPosition {
  /** The number of the row, from 1; a CSV header and blank lines are not counted. */
  readonly row: number;
  /** The line on which its record starts, from 1. */
  readonly line: number;
}

/** A row's position with its id. */
export interface RowPlace extends RowPosition {
  /** The row's own id, else its number. */
  readonly id: string;
  /** The columns by name, which CSV results repeat; undefined if unknown. */
  readonly cells?: Readonly<Record<string, string>>;
}

/** A row that can be run. */
export interface ReadableRow extends RowPlace {
  /** False if the row's number is its id. */
  readonly hasOwnId: boolean;
  readonly inputs: CollectedInputs;
  /** The columns or fields of `inputs.images`, in the same order; undefined if it has no names. */
  readonly imageColumns?: readonly string[];
}

/** A row that can't be run, and the reason. */
export interface FaultyRow extends RowPlace {
  readonly fault: string;
}

export type SourceRow = ReadableRow | FaultyRow;

export function isFaulty(row: SourceRow): row is FaultyRow {
  return 'fault' in row;
}

/** Returns a row with its own id; without one, its number is its id. */
export function toReadableRow(
  position: RowPosition,
  id: string | undefined,
  inputs: CollectedInputs,
): ReadableRow {
  return { ...position, id: id ?? String(position.row), hasOwnId: id !== undefined, inputs };
}

export function toFaultyRow(
  position: RowPosition,
  fault: string,
  id = String(position.row),
): FaultyRow {
  return { ...position, id, fault };
}

/** The column or field that names a row. */
export const ID_COLUMN = 'id';

/**
 * Returns the order of an image column: `image` first, then by number; undefined for a text column.
 */
export function findImageColumnOrder(name: string): number | undefined {
  const [, number] = /^image(\d*)$/u.exec(name) ?? [];
  if (number === undefined) return undefined;
  return number === '' ? -1 : Number(number);
}
