import type { OutputItem, Run } from '../../../wire/index.ts';
import { isObject } from '../../core/json-value.ts';
import type { RowPlace } from '../rows/row.ts';

/** What a line of the results says of a row. */
export interface ResultsLine {
  readonly row: number;
  readonly id: string;
  /** null where no run was created, or none is known. */
  readonly runId: string | null;
  /** As the service said; `failed` where no run was created, `unknown` where nobody can tell. */
  readonly runStatus: string;
  readonly outputs: readonly OutputItem[];
  readonly tokens: number;
  /** Why the row did not succeed; null if it did. */
  readonly error: string | null;
}

/** The `runStatus` of a row whose creation is about to be sent. */
export const CREATING = 'creating';
/** The `runStatus` of a row whose creation was refused for now: it made no run, and is to be sent again. */
export const WAITING = 'waiting';
/** The `runStatus` of a row whose creation may have made a run that was not found. */
export const UNKNOWN = 'unknown';

type Named = Pick<RowPlace, 'row' | 'id'>;

/** A row on its way to a run. */
export interface StepLine extends Named {
  readonly runStatus: typeof CREATING | typeof WAITING;
}

/** The line of a row that has no run yet. */
export function stepLine({ row, id }: Named, runStatus: StepLine['runStatus']): StepLine {
  return { row, id, runStatus };
}

/** The line of a run that goes on. */
export function goingLine(row: Named, runId: string, error: string | null = null): ResultsLine {
  return line(row, { runId, runStatus: 'running', outputs: [], tokens: 0 }, error);
}

/** The line of a run that has ended. */
export function endedLine(row: Named, run: Run, error: string | null): ResultsLine {
  return line(row, run, error);
}

/** The line of a row that has no run, or none that is known. */
export function runlessLine(row: Named, runStatus: 'failed' | typeof UNKNOWN, error: string): ResultsLine {
  return line(row, { runId: null, runStatus, outputs: [], tokens: 0 }, error);
}

/** The line of a run that is known and can't be had. */
export function lostLine(row: Named, runId: string, error: string): ResultsLine {
  return line(row, { runId, runStatus: 'failed', outputs: [], tokens: 0 }, error);
}

function line(
  { row, id }: Named,
  { runId, runStatus, outputs, tokens }: Pick<ResultsLine, 'runId' | 'runStatus' | 'outputs' | 'tokens'>,
  error: string | null,
): ResultsLine {
  return { row, id, runId, runStatus, outputs, tokens, error };
}

/** What is kept of a line: enough to decide what becomes of its row. */
export interface RowState {
  readonly row: number;
  readonly runStatus: string;
  readonly runId: string | undefined;
  /** Whether something went wrong. */
  readonly failed: boolean;
}

/** Reads a line of a results file; undefined where it is none. */
export function parseResultsLine(text: string): { id: string; state: RowState } | undefined {
  const value = parseJson(text);
  if (!isObject(value)) {
    return undefined;
  }
  const { row, id, runId, runStatus, error } = value;
  const isLine = Number.isSafeInteger(row) && typeof id === 'string' && typeof runStatus === 'string';
  if (!isLine || !(typeof runId === 'string' || runId === null || runId === undefined)) {
    return undefined;
  }
  const failed = error !== null && error !== undefined;
  return { id, state: { row: row as number, runStatus, runId: runId ?? undefined, failed } };
}

const BEGINNING = '{"row":';

/** Whether a text may be the beginning of a line of results. */
export function isTornLine(text: string): boolean {
  return text.length < BEGINNING.length ? BEGINNING.startsWith(text) : text.startsWith(BEGINNING);
}

const TORN = /^\{"row":(\d+),"id":("(?:[^"\\]|\\.)*"),"runId":"([0-9a-zA-Z-]+)"/u;

/** What the beginning of a line that was not written to its end still tells: that its row has a run. */
export function readTornLine(text: string): ResultsLine | undefined {
  const [, row, id, runId] = TORN.exec(text) ?? [];
  const name = id === undefined ? undefined : parseJson(id);
  return typeof name === 'string' && runId !== undefined
    ? goingLine({ row: Number(row), id: name }, runId)
    : undefined;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
