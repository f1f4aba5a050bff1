import type { ReportedRow } from './read-results.ts';

const MOST_SLOW = 10;

/** What a batch came to. */
export interface BatchTotals {
  readonly rows: number;
  readonly succeeded: number;
  readonly failed: number;
  readonly tokens: number;
  /** Of all rows together; undefined where none is known. */
  readonly seconds: number | undefined;
  /** The most frequent first. */
  readonly failures: readonly {
    readonly reason: string;
    readonly rows: number;
    readonly ids: readonly string[];
  }[];
  /** The slowest first, ten at most. */
  readonly slowest: readonly { readonly id: string; readonly seconds: number }[];
}

/** A row has succeeded where its run did and nothing went wrong with its files. */
export function hasSucceeded({ runStatus, error }: ReportedRow): boolean {
  return runStatus === 'succeeded' && error === null;
}

export function totalsOf(rows: readonly ReportedRow[]): BatchTotals {
  const succeeded = rows.filter(hasSucceeded).length;
  const timed = rows.flatMap(({ id, seconds }) => (seconds === null ? [] : [{ id, seconds }]));
  return {
    rows: rows.length,
    succeeded,
    failed: rows.length - succeeded,
    tokens: rows.reduce((sum, { tokens }) => sum + tokens, 0),
    seconds: timed.length === 0 ? undefined : round(timed.reduce((sum, { seconds }) => sum + seconds, 0)),
    failures: failuresOf(rows),
    slowest: timed.toSorted((one, other) => other.seconds - one.seconds).slice(0, MOST_SLOW),
  };
}

function failuresOf(rows: readonly ReportedRow[]): BatchTotals['failures'] {
  const ids = new Map<string, string[]>();
  for (const row of rows.filter(one => !hasSucceeded(one))) {
    const reason = reasonOf(row);
    ids.set(reason, [...(ids.get(reason) ?? []), row.id]);
  }
  return [...ids]
    .map(([reason, own]) => ({ reason, rows: own.length, ids: own }))
    .toSorted((one, other) => other.rows - one.rows);
}

/** The error without what is this row's alone: its line. */
function reasonOf({ error, runStatus }: ReportedRow): string {
  return (error ?? `the run is ${runStatus}`).replace(/^line \d+: /u, '');
}

function round(seconds: number): number {
  return Math.round(seconds * 1000) / 1000;
}
