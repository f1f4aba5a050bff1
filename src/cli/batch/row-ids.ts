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
    if (holder === undefined) {
      this.#rows.set(id, row);
    }
    return holder;
  }

  #holder(id: string): number | undefined {
    const number = Number(id);
    const isNumbered = String(number) === id && Number.isInteger(number) && number >= 1;
    return this.#rows.get(id) ?? (isNumbered && number <= this.#numbered ? number : undefined);
  }
}
