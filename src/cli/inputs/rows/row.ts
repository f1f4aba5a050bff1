import { usageError } from '../../errors.ts';
import type { CollectedInputs } from '../text-inputs.ts';

/** Where a row stands in its file and what it is called. */
export interface RowPlace {
  /** From 1; a CSV header and blank lines are not counted. */
  readonly row: number;
  /** The line of the file its record starts at, from 1. */
  readonly line: number;
  /** What the row calls itself, else its number. */
  readonly id: string;
  /** Its own columns by their names, as a table of results repeats them; undefined where they are not known. */
  readonly cells?: Readonly<Record<string, string>>;
}

/** A row that can be read. */
export interface ReadableRow extends RowPlace {
  /** Whether the row brought its id itself. */
  readonly named: boolean;
  readonly inputs: CollectedInputs;
}

/** A row that can't be run, and why. */
export interface FaultyRow extends RowPlace {
  readonly fault: string;
}

export type SourceRow = ReadableRow | FaultyRow;

export function isFaulty(row: SourceRow): row is FaultyRow {
  return 'fault' in row;
}

/** A row under the id it brought, else under its number. */
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

/** The place of an image column among the row's images: `image` first, then by number; undefined for a text. */
export function imageColumnOrder(name: string): number | undefined {
  const [, number] = /^image(\d*)$/u.exec(name) ?? [];
  if (number === undefined) return undefined;
  return number === '' ? -1 : Number(number);
}

/** Notices when two rows go by one id; holds nothing while rows go by their numbers alone. */
export class RowIds {
  /** Rows up to here go by their numbers. */
  #numbered = 0;
  readonly #rows = new Map<string, number>();

  /** Takes an id for a row; gives the row that has it already, if one has. */
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
  /** From 1. */
  readonly index: number;
  readonly of: number;
}

/** @throws {CliError} for anything but `i/n` with i from 1 to n */
export function parseShard(text: string): Shard {
  const [, index, of] = /^(\d{1,9})\/(\d{1,9})$/u.exec(text) ?? [];
  const shard = { index: Number(index), of: Number(of) };
  if (!(shard.index >= 1 && shard.index <= shard.of)) {
    throw usageError(
      `--shard needs i/n with i from 1 to n, not ${JSON.stringify(text)}`,
      'for example: --shard 1/4 on the first of four machines',
    );
  }
  return shard;
}

/** Whether a row is this shard's; every row is exactly one's. */
export function isInShard(shard: Shard | undefined, row: number): boolean {
  return shard === undefined || (row - 1) % shard.of === shard.index - 1;
}
