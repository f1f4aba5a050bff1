import { createReadStream } from 'node:fs';
import path from 'node:path';
import { isObject, listOf } from '../../core/json-value.ts';
import { usageError } from '../../errors.ts';
import { fileFault } from '../../inputs/read-text.ts';
import type { ResultsLine } from '../results/results-line.ts';
import { textLines } from '../rows/text-lines.ts';

/** An output as the results have it: with the path where it was saved. */
export type ReportedOutput = ResultsLine['outputs'][number] & { readonly savedTo?: string };

/** A line of the results, as far as a report needs it. */
export interface ReportedRow extends Omit<ResultsLine, 'outputs'> {
  readonly outputs: readonly ReportedOutput[];
}

/**
 * The rows of a file of results; of a row with several lines the last one counts.
 *
 * @throws {CliError} USAGE_ERROR for a file that can't be read, or a line that is not a result
 */
export async function readResults(file: string, cwd: string): Promise<ReportedRow[]> {
  if (file.endsWith('.csv')) {
    throw usageError(
      `${file} is CSV; a report is made of results as JSONL`,
      'Write them with --out results.jsonl.',
    );
  }
  const rows = new Map<string, ReportedRow>();
  const stream = createReadStream(path.resolve(cwd, file), { encoding: 'utf8' });
  try {
    for await (const { text, line } of textLines(stream as AsyncIterable<string>)) {
      if (text.trim() !== '') {
        const row = rowOf(text);
        if (row === undefined) {
          throw usageError(`${file}, line ${line}: this is not a result of a batch`);
        }
        rows.set(row.id, row);
      }
    }
  } catch (error) {
    throw fileFault(error, file, 'report');
  }
  return [...rows.values()];
}

function rowOf(text: string): ReportedRow | undefined {
  const value = parsed(text);
  if (!isObject(value) || typeof value['row'] !== 'number' || typeof value['runStatus'] !== 'string') {
    return undefined;
  }
  const { row, runStatus, runId, tokens, credits, cost, seconds, error, inputs, id } = value;
  return {
    row,
    runStatus,
    id: typeof id === 'string' ? id : String(row),
    runId: typeof runId === 'string' ? runId : null,
    outputs: listOf(value['outputs']).filter(isObject) as unknown as ReportedOutput[],
    tokens: typeof tokens === 'number' ? tokens : 0,
    credits: typeof credits === 'number' ? credits : null,
    cost: typeof cost === 'number' ? cost : null,
    seconds: typeof seconds === 'number' ? seconds : null,
    error: typeof error === 'string' ? error : null,
    ...(isObject(inputs) && { inputs: inputs as unknown as NonNullable<ResultsLine['inputs']> }),
  };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

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
    tokens: rows.reduce((sum, { tokens }) => sum + (tokens ?? 0), 0),
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
