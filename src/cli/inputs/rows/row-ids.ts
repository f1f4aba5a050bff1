import type { ReadableRow } from './row.ts';

/** Detects rows with equal ids. Stores nothing while rows have no ids of their own. */
export class RowIds {
  /** The last of the first rows, which have no ids of their own but their numbers. */
  #lastNumberedRow = 0;
  readonly #rowsById = new Map<string, number>();

  /** Records the id of a row; returns the row that already has it, if any. */
  add({ row, id, hasOwnId }: Pick<ReadableRow, 'row' | 'id' | 'hasOwnId'>): number | undefined {
    if (!hasOwnId && this.#rowsById.size === 0) {
      this.#lastNumberedRow = row;
      return undefined;
    }
    const firstRow = this.#findRow(id);
    if (firstRow === undefined) this.#rowsById.set(id, row);
    return firstRow;
  }

  #findRow(id: string): number | undefined {
    const number = Number(id);
    const isNumbered = String(number) === id && Number.isInteger(number) && number >= 1;
    return (
      this.#rowsById.get(id) ?? (isNumbered && number <= this.#lastNumberedRow ? number : undefined)
    );
  }
}
