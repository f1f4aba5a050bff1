import { createReadStream } from 'node:fs';
import path from 'node:path';
import { fileIn } from '../../../files/write-below.ts';
import type { Connection, Context } from '../../context.ts';
import { counted } from '../../core/counted.ts';
import { failureOf } from '../../core/failure.ts';
import { Spending, type Totals } from '../../creation/spending.ts';
import { usageError } from '../../errors.ts';
import { fileFault } from '../../inputs/read-text.ts';
import { textLines } from '../../inputs/rows/text-lines.ts';
import { readJournal } from '../../jobs/read-journal.ts';
import { parseResultsLine, type ResultsLine, resultState } from '../results/results-line.ts';

/**
 * The rows of a file of results; of a row with several lines the last one counts.
 *
 * @throws {CliError} USAGE_ERROR for a file that can't be read, or a line that is not a result
 */
export async function readResults(file: string, cwd: string): Promise<ResultsLine[]> {
  if (file.endsWith('.csv')) {
    throw usageError(
      `${file} is CSV; a report is made of results as JSONL`,
      'Write them with --out results.jsonl.',
    );
  }
  const rows = new Map<string, ResultsLine>();
  const stream = createReadStream(path.resolve(cwd, file), { encoding: 'utf8' });
  try {
    for await (const { text, line } of textLines(stream as AsyncIterable<string>)) {
      if (text.trim() !== '') {
        const row = parseResultsLine(text);
        if (row === undefined) throw usageError(`${file}:${line}: this is not a result of a batch`);
        rows.set(row.id, row);
      }
    }
  } catch (error) {
    throw fileFault(error, file, 'report');
  }
  return [...rows.values()];
}

/** How far a batch is that has not ended. */
export interface Unfinished {
  readonly done: number;
  /** undefined if it was not known in advance. */
  readonly of: number | undefined;
}

/** Reads how far the batch is; undefined for one that has ended, which has no journal any more. */
export async function unfinishedOf(
  results: string,
  cwd: string,
  rows: readonly ResultsLine[],
): Promise<Unfinished | undefined> {
  const { facts } = await readJournal(fileIn(`${path.resolve(cwd, results)}.journal`));
  if (facts === undefined) return undefined;
  const count = facts['rows'];
  return { done: rows.length, of: typeof count === 'number' ? count : undefined };
}

/** How far a batch is, in words. */
export function unfinishedText({ done, of }: Unfinished): string {
  return of === undefined
    ? `${counted(done, 'row')} done so far; the batch has not ended`
    : `${done} of ${counted(of, 'row')} ${done === 1 ? 'is' : 'are'} done`;
}

/**
 * What the runs of results took. What the file lacks is asked of the configured service: credits of its list, and models
 * if it is this machine's own. What can't be learnt stays unknown, with a note that says why.
 */
export async function spendingOf(ctx: Context, lines: readonly ResultsLine[]): Promise<Totals> {
  const runs = lines.map(resultState).flatMap(state => state.runs);
  const lacksCredits = runs.some(({ credits }) => credits === undefined);
  const lacksModels = runs.some(({ cost }) => cost !== undefined);
  const spending = new Spending();
  const add = (connection: Connection | undefined): void => {
    for (const run of runs) spending.add({ ...run, connection });
  };
  if (lacksCredits || lacksModels) {
    try {
      add(await ctx.connection());
      await spending.readCosts();
      await spending.readCredits(ctx.signal);
    } catch (error) {
      ctx.signal.throwIfAborted();
      if (lacksCredits) ctx.io.note(`note: the credits can't be asked for: ${failureOf(error).message}`);
    }
  }
  add(undefined);
  return spending.totals();
}

const MOST_SLOW = 10;

/** A row has succeeded if its run did and nothing went wrong with its files. */
export function hasSucceeded({ runStatus, error }: ResultsLine): boolean {
  return runStatus === 'succeeded' && error === null;
}

/** What a batch came to. */
export type BatchSummary = ReturnType<typeof summaryOf>;

export function summaryOf(rows: readonly ResultsLine[], spent: Totals, unfinished: Unfinished | undefined) {
  const succeeded = rows.filter(hasSucceeded).length;
  const timed = rows.flatMap(({ id, seconds }) => (seconds === null ? [] : [{ id, seconds }]));
  return {
    ...(unfinished !== undefined && { unfinished }),
    rows: rows.length,
    succeeded,
    failed: rows.length - succeeded,
    /** Of all rows together; undefined if none is known. */
    seconds: timed.length === 0 ? undefined : round(timed.reduce((sum, { seconds }) => sum + seconds, 0)),
    ...spent,
    /** The most frequent first. */
    failures: failuresOf(rows),
    /** The slowest first. */
    slowest: timed.toSorted((one, other) => other.seconds - one.seconds).slice(0, MOST_SLOW),
  };
}

function failuresOf(rows: readonly ResultsLine[]): { reason: string; rows: number; ids: string[] }[] {
  const ids = new Map<string, string[]>();
  for (const row of rows.filter(one => !hasSucceeded(one))) {
    const reason = reasonOf(row);
    ids.set(reason, [...(ids.get(reason) ?? []), row.id]);
  }
  return [...ids]
    .map(([reason, own]) => ({ reason, rows: own.length, ids: own }))
    .toSorted((one, other) => other.rows - one.rows);
}

/** The error without what is this row's alone: its line, and its run. */
function reasonOf({ error, runStatus, runId }: ResultsLine): string {
  const reason = (error ?? `the run is ${runStatus}`).replace(/^line \d+: /u, '');
  return runId === null ? reason : reason.replaceAll(runId, '<run>');
}

function round(seconds: number): number {
  return Math.round(seconds * 1000) / 1000;
}
