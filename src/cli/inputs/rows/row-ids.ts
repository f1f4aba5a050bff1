/** Detects rows with equal ids; holds nothing while rows have only numbers. */
export class RowIds {
  /** Rows up to this one have only numbers. */
  #numbered = 0;
  readonly #rows = new Map<string, number>();

  /** Records the id of a row; returns the row that already has it, if any. */
  take({ row, id, isNamed }: { row: number; id: string; isNamed: boolean }): number | undefined {
    if (!isNamed && this.#rows.size === 0) {
      this.#numbered = row;
      return undefined;
    }
    const holder = this.#findHolder(id);
    if (holder === undefined) this.#rows.set(id, row);
    return holder;
  }

  #findHolder(id: string): number | undefined {
    const number = Number(id);
    const isNumbered = String(number) === id && Number.isInteger(number) && number >= 1;
    return this.#rows.get(id) ?? (isNumbered && number <= this.#numbered ? number : undefined);
  }
}
