import { createReadStream, existsSync } from 'node:fs';
import path from 'node:path';
import { splitIntoLines } from '../../../files/formats/text-lines.ts';
import { toContainedPath } from '../../../files/writing/write-below.ts';
import type { Connection, Context } from '../../context.ts';
import { type CliError, usageError } from '../../core/errors.ts';
import { toFailure } from '../../core/failure.ts';
import { pluralize } from '../../core/pluralize.ts';
import { Spending } from '../../creation/spending/spending.ts';
import type { Totals } from '../../creation/spending/totals.ts';
import { toFileFault } from '../../inputs/read-text.ts';
import { sumSeconds } from '../../jobs/job.ts';
import { readJournal } from '../../jobs/read-journal.ts';
import { toResultState } from '../results/result-state.ts';
import { parseResultsLine, type ResultsLine } from '../results/results-line.ts';

/**
 * Reads the rows of a file of results; the last line of a row counts. The file's last line may be
 * torn while its batch has not ended.
 *
 * @throws {CliError} USAGE_ERROR if the file can't be read, or a line is not a result
 */
export async function readReportedRows(resultsPath: string, cwd: string): Promise<ResultsLine[]> {
  if (resultsPath.endsWith('.csv')) {
    throw usageError(
      `${resultsPath} is CSV, but a report needs results as JSONL`,
      'CSV has no tokens, costs or times. Give --out results.jsonl to the next batch.',
    );
  }

  const rows = new Map<string, ResultsLine>();
  let fault: CliError | undefined;
  const stream = createReadStream(path.resolve(cwd, resultsPath), { encoding: 'utf8' });
  try {
    for await (const { text, line } of splitIntoLines(stream as AsyncIterable<string>)) {
      if (fault !== undefined) throw fault;
      if (text.trim() !== '') {
        const row = parseResultsLine(text);
        if (row === undefined) {
          fault = usageError(`${resultsPath}:${line}: this is not a result of a batch`);
        } else {
          rows.set(row.id, row);
        }
      }
    }
    if (fault !== undefined && !existsSync(getJournalPath(resultsPath, cwd))) throw fault;
  } catch (error) {
    throw toFileFault(error, resultsPath, 'report');
  }

  return [...rows.values()];
}

function getJournalPath(resultsPath: string, cwd: string): string {
  return `${path.resolve(cwd, resultsPath)}.journal`;
}

/** The progress of a batch that has not ended, as `--json` prints it. */
export interface UnfinishedBatch {
  readonly done: number;
  /** The number of rows; undefined if unknown in advance. */
  readonly of: number | undefined;
}

/**
 * Reads the progress of a batch. Returns undefined if it has ended, because its journal is gone.
 */
export async function readUnfinished(
  resultsPath: string,
  cwd: string,
  rows: readonly ResultsLine[],
): Promise<UnfinishedBatch | undefined> {
  const { facts } = await readJournal(toContainedPath(getJournalPath(resultsPath, cwd)));
  if (facts === undefined) return undefined;
  const count = facts['rows'];
  return { done: rows.length, of: typeof count === 'number' ? count : undefined };
}

export function formatUnfinished({ done: doneCount, of: rowCount }: UnfinishedBatch): string {
  if (rowCount === undefined) {
    return `${pluralize(doneCount, 'row')} done so far; the batch has not ended`;
  }
  return `${doneCount} of ${pluralize(rowCount, 'row')} ${doneCount === 1 ? 'is' : 'are'} done`;
}

/**
 * Returns the spending of the runs in results. Asks the configured service for amounts that the
 * file lacks: credits, and also models if it is this machine's own. If the service can't be asked,
 * notes why and leaves the amounts unknown.
 */
export async function readSpending(ctx: Context, lines: readonly ResultsLine[]): Promise<Totals> {
  const runs = lines.map(toResultState).flatMap(state => state.runs);
  const lacksCredits = runs.some(({ credits }) => credits === undefined);
  const lacksModels = runs.some(({ cost }) => cost !== undefined);

  const spending = new Spending();
  const addRuns = (connection: Connection | undefined): void => {
    for (const run of runs) spending.add({ ...run, connection });
  };

  if (lacksCredits || lacksModels) {
    try {
      addRuns(await ctx.connection());
      await spending.readCosts();
      await spending.readCredits(ctx.signal);
    } catch (error) {
      ctx.signal.throwIfAborted();
      if (lacksCredits) {
        ctx.io.note(`note: could not read the credits: ${toFailure(error).message}`);
      }
    }
  }

  addRuns(undefined);
  return spending.computeTotals();
}

const MAX_SLOWEST_ROWS = 10;

/** Returns true if the row's run succeeded and its outputs were saved. */
export function hasRowSucceeded({ runStatus, error }: ResultsLine): boolean {
  return runStatus === 'succeeded' && error === null;
}

export type BatchSummary = ReturnType<typeof summarizeRows>;

export function summarizeRows(
  rows: readonly ResultsLine[],
  spentTotals: Totals,
  unfinishedBatch: UnfinishedBatch | undefined,
) {
  const succeededCount = rows.filter(hasRowSucceeded).length;
  const timedRows = rows.flatMap(({ id, seconds }) => (seconds === null ? [] : [{ id, seconds }]));
  return {
    ...(unfinishedBatch !== undefined && { unfinished: unfinishedBatch }),
    rows: rows.length,
    succeeded: succeededCount,
    failed: rows.length - succeededCount,
    /** The sum over all rows; undefined if no row has a known time. */
    seconds:
      timedRows.length === 0 ? undefined : sumSeconds(timedRows.map(({ seconds }) => seconds)),
    ...spentTotals,
    /** The failures, most frequent first. */
    failures: groupFailures(rows),
    /** The slowest rows first. */
    slowest: timedRows.toSorted((a, b) => b.seconds - a.seconds).slice(0, MAX_SLOWEST_ROWS),
  };
}

function groupFailures(
  rows: readonly ResultsLine[],
): { reason: string; rows: number; ids: string[] }[] {
  const idsByReason = new Map<string, string[]>();
  for (const row of rows.filter(row => !hasRowSucceeded(row))) {
    const reason = getFailureReason(row);
    idsByReason.set(reason, [...(idsByReason.get(reason) ?? []), row.id]);
  }
  return [...idsByReason]
    .map(([reason, ids]) => ({ reason, rows: ids.length, ids }))
    .toSorted((a, b) => b.rows - a.rows);
}

/** Returns the error without the row's own line and run, so that equal failures group together. */
function getFailureReason({ error, runStatus, runId }: ResultsLine): string {
  const reason = (error ?? `the run is ${runStatus}`).replace(/^line \d+: /u, '');
  return runId === null ? reason : reason.replaceAll(runId, '<run>');
}
