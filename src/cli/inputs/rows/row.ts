import { usageError } from '../../errors.ts';
import type { CollectedInputs } from '../text-inputs.ts';

/** The place and the id of a row. */
export interface RowPlace {
  /** From 1; a CSV header and blank lines are not counted. */
  readonly row: number;
  /** The line on which its record starts, from 1. */
  readonly line: number;
  /** The row's own id, else its number. */
  readonly id: string;
  /** Its columns by name, which CSV results repeat; undefined if unknown. */
  readonly cells?: Readonly<Record<string, string>>;
}

/** A row that can be read. */
export interface ReadableRow extends RowPlace {
  /** True if the row has an id of its own. */
  readonly named: boolean;
  readonly inputs: CollectedInputs;
}

/** A row that can't be run, and the reason. */
export interface FaultyRow extends RowPlace {
  readonly fault: string;
}

export type SourceRow = ReadableRow | FaultyRow;

export function isFaulty(row: SourceRow): row is FaultyRow {
  return 'fault' in row;
}

/** Returns a row with its own id, else with its number. */
export function readableRow(
  place: { readonly row: number; readonly line: number },
  id: string | undefined,
  inputs: CollectedInputs,
): ReadableRow {
  return { ...place, id: id ?? String(place.row), named: id !== undefined, inputs };
}

export function faultyRow(
  place: { readonly row: number; readonly line: number },
  fault: string,
  id = String(place.row),
): FaultyRow {
  return { ...place, id, fault };
}

/** The column or field that names a row. */
export const ID_COLUMN = 'id';

/** Returns the order of an image column: `image` first, then by number; undefined for a text column. */
export function imageColumnOrder(name: string): number | undefined {
  const [, number] = /^image(\d*)$/u.exec(name) ?? [];
  if (number === undefined) return undefined;
  return number === '' ? -1 : Number(number);
}

/** Detects rows with equal ids; holds nothing while rows have only numbers. */
export class RowIds {
  /** Rows up to this one have only numbers. */
  #numbered = 0;
  readonly #rows = new Map<string, number>();

  /** Records the id of a row; returns the row that already has it, if any. */
  take({ row, id, named }: { row: number; id: string; named: boolean }): number | undefined {
    if (!named && this.#rows.size === 0) {
      this.#numbered = row;
      return undefined;
    }
    const holder = this.#holder(id);
    if (holder === undefined) this.#rows.set(id, row);
    return holder;
  }

  #holder(id: string): number | undefined {
    const number = Number(id);
    const isNumbered = String(number) === id && Number.isInteger(number) && number >= 1;
    return this.#rows.get(id) ?? (isNumbered && number <= this.#numbered ? number : undefined);
  }
}

/** One of several equal parts of a batch. */
export interface Shard {
  /** The number of the part, from 1. */
  readonly index: number;
  readonly of: number;
}

/** Parses `i/n` with i from 1 to n. @throws {CliError} for anything else */
export function parseShard(text: string): Shard {
  const [, index, of] = /^(\d{1,9})\/(\d{1,9})$/u.exec(text) ?? [];
  const shard = { index: Number(index), of: Number(of) };
  if (!(shard.index >= 1 && shard.index <= shard.of)) {
    throw usageError(
      `--shard needs i/n with i from 1 to n, not ${JSON.stringify(text)}`,
      'For example: --shard 1/4 on the first of four machines',
    );
  }
  return shard;
}

/** Returns true if a row belongs to the shard; every row belongs to exactly one. */
export function isInShard(shard: Shard | undefined, row: number): boolean {
  return shard === undefined || (row - 1) % shard.of === shard.index - 1;
}
