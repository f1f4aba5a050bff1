import type { DiffPart } from '../checks/tasks.ts';

/** What a page or a comment shows: what each of several models, revisions or runs made of the same rows. */
export interface Grid {
  readonly title: string;
  /** What it came to, in a few words each. */
  readonly facts: readonly string[];
  /** What is known of each column in all, such as `tokens`. */
  readonly measures: readonly string[];
  readonly columns: readonly GridColumn[];
  readonly rows: readonly GridRow[];
  /** What went wrong, in a line each. */
  readonly reasons: readonly string[];
}

export interface GridColumn {
  readonly name: string;
  /** In the order of the measures. */
  readonly totals: readonly string[];
}

/** How a row or a cell ended. */
export type GridState = 'passed' | 'succeeded' | 'same' | 'changed' | 'failed' | 'undecided' | 'not run';

export interface GridRow {
  readonly name: string;
  /** Where it comes from, such as a file. */
  readonly place?: string;
  readonly state: GridState;
  readonly inputs: readonly (readonly [name: string, value: string])[];
  /** One for each column; undefined if the row has none there. */
  readonly cells: readonly (GridCell | undefined)[];
}

export interface GridCell {
  readonly state: GridState;
  /** Time, tokens, cost. */
  readonly facts: readonly string[];
  readonly parts: readonly GridPart[];
}

export type GridPart =
  | { readonly kind: 'text' | 'message' | 'error'; readonly text: string }
  | { readonly kind: 'difference'; readonly parts: readonly DiffPart[] }
  /** `url` is a `data:` URL that this program made; undefined if it can't be shown. */
  | { readonly kind: 'media'; readonly url: string | undefined };

const SEVERITY: Readonly<Record<GridState, number>> = {
  'not run': 0,
  failed: 1,
  undecided: 2,
  changed: 3,
  passed: 4,
  succeeded: 4,
  same: 4,
};

/** What is wrong. */
export function isBad(state: GridState): boolean {
  return SEVERITY[state] < 3;
}

/** The rows with what is wrong first. */
export function worstFirst(rows: readonly GridRow[]): GridRow[] {
  return rows.toSorted((one, other) => SEVERITY[one.state] - SEVERITY[other.state]);
}

/** The states that rows have, with how many; the worst first. */
export function statesOf(rows: readonly GridRow[]): (readonly [GridState, number])[] {
  const states = Object.keys(SEVERITY) as GridState[];
  return states
    .map(state => [state, rows.filter(row => row.state === state).length] as const)
    .filter(([, count]) => count > 0);
}
