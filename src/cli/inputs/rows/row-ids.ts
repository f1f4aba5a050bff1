import type { ReadableRow } from './row.ts';

/** Detects rows with equal ids; holds nothing while rows have only numbers. */
export class RowIds {
  /** Rows up to this one have only numbers. */
  #lastNumberedRow = 0;
  readonly #rowsById = new Map<string, number>();

  /** Records the id of a row; returns the row that already has it, if any. */
  add({ row, id, isNamed }: Pick<ReadableRow, 'row' | 'id' | 'isNamed'>): number | undefined {
    if (!isNamed && this.#rowsById.size === 0) {
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
