import type { DiffPart } from '../../checks/check-tasks.ts';
import type { Interval } from '../../statistics/interval.ts';

/**
 * The content of a page or comment: the results of several models, revisions or runs for the same
 * rows.
 */
export interface Grid {
  readonly title: string;
  /** The overall results, in a few words each. */
  readonly facts: readonly string[];
  /** The rates of the whole, and their difference from earlier ones. */
  readonly ranges?: readonly GridRange[];
  readonly columns: readonly GridColumn[];
  readonly rows: readonly GridRow[];
  /** The faults, one line each. */
  readonly faults: readonly string[];
}

export interface GridColumn {
  readonly name: string;
  /** The totals in display order; every column of a grid has the same ones. */
  readonly totals: readonly GridTotal[];
}

/** A total of a column, such as `tokens` and `1200`. */
export interface GridTotal {
  readonly name: string;
  readonly value: string;
}

/** The state of a row or cell. */
export type GridState =
  | 'passed'
  | 'succeeded'
  | 'same'
  | 'changed'
  | 'failed'
  | 'undecided'
  | 'unchecked'
  | 'not run';

export interface GridRow {
  readonly name: string;
  /** The origin, such as a file. */
  readonly place?: string;
  readonly state: GridState;
  /** True if some runs of one of its cells passed and some did not. */
  readonly isFlaky?: boolean;
  readonly inputs: readonly (readonly [name: string, value: string])[];
  /** The expectations of its answers, in a few words each. */
  readonly expected?: readonly string[];
  /** The cells by column; undefined if the row has none there. */
  readonly cells: readonly (GridCell | undefined)[];
}

export interface GridCell {
  readonly state: GridState;
  /** Further facts, such as time, tokens and cost. */
  readonly facts: readonly string[];
  readonly ranges?: readonly GridRange[];
  readonly parts: readonly GridPart[];
}

/** A rate, or a difference of rates, with its interval: a page draws it as a bar. */
export interface GridRange {
  readonly label: string;
  /** The figures in words. */
  readonly text: string;
  readonly value: number;
  readonly interval: Interval;
  /** The low end of the scale, whose high end is 1: -1 for a difference. */
  readonly min: -1 | 0;
  /** A value to compare with, such as the required rate. */
  readonly comparedValue: number | undefined;
  readonly tone: 'good' | 'bad' | 'changed';
}

export type GridPart =
  | { readonly kind: 'text' | 'message' | 'error'; readonly text: string }
  | { readonly kind: 'difference'; readonly parts: readonly DiffPart[] }
  /** `url` is a `data:` URL that this program made; undefined if it can't be shown. */
  | { readonly kind: 'media'; readonly url: string | undefined };

/** The ranks of states, in the order in which they are counted: 0 is the worst. */
const STATE_RANK: Readonly<Record<GridState, number>> = {
  'not run': 0,
  failed: 1,
  undecided: 2,
  unchecked: 3,
  changed: 3,
  passed: 4,
  succeeded: 4,
  same: 4,
};

export function isFaultyState(state: GridState): boolean {
  return STATE_RANK[state] < STATE_RANK.unchecked;
}

/** Returns the rows with the faulty ones first. */
export function sortWorstFirst(rows: readonly GridRow[]): GridRow[] {
  return rows.toSorted((one, other) => STATE_RANK[one.state] - STATE_RANK[other.state]);
}

/** Returns the rows with the flaky ones first, in their order. */
export function sortFlakyFirst(rows: readonly GridRow[]): GridRow[] {
  return rows.toSorted(
    (one, other) => Number(other.isFlaky ?? false) - Number(one.isFlaky ?? false),
  );
}

/** Counts the rows by state, worst first. */
export function countStates(
  rows: readonly GridRow[],
): (readonly [state: GridState, count: number])[] {
  const states = Object.keys(STATE_RANK) as GridState[];
  return states
    .map(state => [state, rows.filter(row => row.state === state).length] as const)
    .filter(([, count]) => count > 0);
}
