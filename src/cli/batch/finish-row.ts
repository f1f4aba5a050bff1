import path from 'node:path';
import { isOver, type Run } from '../../wire/index.ts';
import type { Context } from '../context.ts';
import { CliError, NoMoreRunsError } from '../core/errors.ts';
import { EXIT } from '../core/exit-codes.ts';
import { toFailure } from '../core/failure.ts';
import { toPosixRelativePath } from '../core/paths.ts';
import { pluralize } from '../core/pluralize.ts';
import type { Budget } from '../creation/spending/budget.ts';
import type { SourceRow } from '../inputs/rows/row.ts';
import type { RowSource } from '../inputs/rows/row-source.ts';
import type { JobEnd } from '../jobs/batch-journal.ts';
import type { JobOutcome, RunDetails } from '../jobs/job.ts';
import { formatError, isCapReached, refusesEveryJob } from '../jobs/job-errors.ts';
import type { StopControl } from '../jobs/stop-control.ts';
import { withPaths } from '../outputs/present-run.ts';
import { joinProviderReasons } from '../outputs/run-errors.ts';
import { getFailureStatus } from '../outputs/saving/save-failures.ts';
import type { SaveFailure } from '../outputs/saving/save-outputs.ts';
import type { BatchOptions } from './batch-options.ts';
import type { BatchFiles } from './open-files.ts';
import type { PreparedBatch } from './prepare-batch.ts';
import { reportRow } from './progress/report-row.ts';
import type { RowTally } from './progress/row-tally.ts';
import { buildResultsLine, type ResultsLine, toLineInputs } from './results/results-line.ts';

export interface RunningBatch extends BatchFiles {
  /** The context, whose signal drops the running rows. */
  readonly ctx: Context;
  readonly options: BatchOptions;
  readonly source: RowSource;
  readonly batch: PreparedBatch;
  readonly budget: Budget;
  readonly tally: RowTally;
  readonly stop: StopControl;
}

/** An outcome with a line in the results. */
type WrittenOutcome = Extract<JobOutcome, { kind: 'ended' | 'failed' }>;
type EndedJobOutcome = Extract<JobOutcome, { kind: 'ended' }>;
type DroppedJobOutcome = Extract<JobOutcome, { kind: 'dropped' }>;

/** Saves, journals, writes, counts and reports the outcome of a row. */
export async function finishRow(
  runningBatch: RunningBatch,
  row: SourceRow,
  outcome: JobOutcome,
): Promise<void> {
  const { tally, journal } = runningBatch;
  let finalOutcome = outcome;
  if (finalOutcome.kind === 'dropped') {
    finalOutcome = await endDroppedRow(runningBatch, finalOutcome);
  }

  if (finalOutcome.kind === 'ended') {
    finalOutcome = await saveRowOutputs(runningBatch, finalOutcome);
  }

  switch (finalOutcome.kind) {
    case 'ended':
    case 'failed':
      await writeResult(runningBatch, row, finalOutcome);
      countEnd(tally, finalOutcome);
      break;
    case 'in doubt':
      await journal.recordCandidates(row, finalOutcome.candidates);
      tally.countsNow['in doubt'] += 1;
      tally.addDoubt(finalOutcome.entry);
      break;
    case 'running':
      tally.countsNow.running += 1;
      break;
    case 'dropped':
      if (finalOutcome.isInDoubt) countDroppedDoubt(runningBatch, finalOutcome);
      break;
    case 'postponed':
      tally.postponedCount += 1;
      break;
  }

  reportEnd(runningBatch, row, finalOutcome);
}

/**
 * Returns the end of a dropped row if its run was this process's own, which has ended with it. Else
 * returns the outcome unchanged.
 */
async function endDroppedRow(
  runningBatch: RunningBatch,
  droppedOutcome: DroppedJobOutcome,
): Promise<EndedJobOutcome | DroppedJobOutcome> {
  const { batch, budget, tally } = runningBatch;
  const { runId, details } = droppedOutcome;
  if (runId === undefined) return droppedOutcome;

  const run = await batch.connection.client.runs.get(runId);
  if (!isOver(run)) return droppedOutcome;

  await budget.countWaitedRun(batch.connection, run);

  // It may have ended by itself just before.
  if (run.runStatus === 'failed') tally.stoppedCount += 1;
  return { kind: 'ended', run, details };
}

/**
 * Saves a run's outputs. A fault with the files becomes the row's error and never loses the paid
 * run.
 */
async function saveRowOutputs(
  runningBatch: RunningBatch,
  outcome: EndedJobOutcome,
): Promise<EndedJobOutcome> {
  const { run, failures } = await saveRunOutputs(runningBatch, outcome.run, outcome.details);
  const { recovered } = outcome.run;
  const error = run.runStatus === 'failed' ? runFailedError(run) : findSaveError(failures);

  return {
    ...outcome,
    run: recovered ? { ...run, recovered } : run,
    ...(error !== undefined && { error }),
  };
}

/**
 * Returns the error of a failed run, without advice to run it outside the batch: --retry-failed
 * would pay for it again.
 */
function runFailedError(run: Run): CliError {
  return new CliError(joinProviderReasons(run), { status: 'RUN_FAILED', exitCode: EXIT.runFailed });
}

/** Returns the run with the paths of its outputs, and the failures of those that were not saved. */
async function saveRunOutputs(
  {
    ctx,
    batch: { connection, promptVersionId },
    options: { saveTo, force, out },
    tally,
  }: RunningBatch,
  run: Run,
  { request, sentAt: startedAt, endedAt }: RunDetails,
): Promise<{ run: Run; failures: readonly SaveFailure[] }> {
  if (saveTo === undefined) return { run, failures: [] };

  const { saveOutputs } = await import('../outputs/saving/save-outputs.ts');
  const savedFacts = {
    promptVersionId,
    ...(request !== undefined && { request }),
    ...(startedAt !== undefined && { startedAt, endedAt }),
  };
  try {
    const { paths, failures } = await saveOutputs(ctx, connection, run, {
      directory: saveTo,
      force,
      facts: savedFacts,
    });
    for (const { link } of failures) tally.refusedLink ??= link;

    const shownPaths =
      out === undefined
        ? paths
        : paths.map(file => file && toResultsRelativePath(ctx.cwd, out, file));
    return { run: withPaths(run, shownPaths), failures };
  } catch (error) {
    return { run, failures: [{ output: 0, message: formatError(error) }] };
  }
}

/**
 * Returns the path of a saved file relative to the folder of the results, which may move to another
 * machine.
 */
function toResultsRelativePath(cwd: string, results: string, file: string): string {
  return toPosixRelativePath(path.dirname(path.resolve(cwd, results)), path.resolve(cwd, file));
}

function findSaveError(failures: readonly SaveFailure[]): CliError | undefined {
  if (failures.length === 0) return undefined;
  const reason = failures.map(({ message }) => message).join('; ');
  return new CliError(`the run succeeded, but not all of its outputs were saved: ${reason}`, {
    status: getFailureStatus(failures),
    exitCode: EXIT.fault,
  });
}

/**
 * Writes the end of a row to the journal and then its result, so that every result has an end in
 * the journal.
 */
async function writeResult(
  { options, batch, journal, results, stop, budget }: RunningBatch,
  row: SourceRow,
  outcome: WrittenOutcome,
): Promise<void> {
  const { request } = outcome.details;
  const endedLine = buildResultsLine(row, outcome, budget);
  const { runId, error, runStatus } = endedLine;
  const earlierRunIds = listEarlierRunIds({ journal, results }, row).filter(id => id !== runId);
  const line: ResultsLine = {
    ...endedLine,
    ...(earlierRunIds.length > 0 && { earlierRunIds }),
    ...(options.withInputs && request !== undefined && { inputs: toLineInputs(request) }),
  };

  const end: JobEnd = {
    step: runStatus === 'succeeded' ? 'succeeded' : 'failed',
    runId,
    error,
    ...(outcome.kind === 'failed' && outcome.mayHaveRun && { mayHaveRun: true }),
    ...(results.toJournalPart !== undefined && { result: results.toJournalPart(line, row) }),
  };
  await journal.recordEnd(row, end, { isDurable: !batch.connection.isEmbedded || runId === null });
  if (!(await results.write(line, row))) stop.dropWithoutReader();
}

/** Returns the ids of a row's runs in earlier invocations. */
function listEarlierRunIds(
  { journal, results }: Pick<RunningBatch, 'journal' | 'results'>,
  { id }: SourceRow,
): string[] {
  const idsInResults = results.states.get(id)?.runs ?? [];
  const idsInJournal = journal.states.get(id)?.runIds ?? [];
  return [...new Set([...idsInResults.map(({ runId }) => runId), ...idsInJournal])];
}

function countEnd(tally: RowTally, outcome: WrittenOutcome): void {
  if (outcome.kind === 'ended') {
    tally.countsNow[outcome.error === undefined ? 'succeeded' : 'failed'] += 1;
    if (outcome.isUnanswered) tally.unansweredCount += 1;
  } else {
    tally.countsNow.failed += 1;
    if (toFailure(outcome.error).exitCode === EXIT.usage) tally.faultyCount += 1;
  }
}

/** Counts a row whose creation was sent but whose answer was not awaited. */
function countDroppedDoubt({ batch, tally }: RunningBatch, { details }: DroppedJobOutcome): void {
  const { sentAt = details.endedAt } = details;
  const { offsetMs: clockOffsetMs = 0 } = batch.connection.client.clock;
  tally.countsNow['in doubt'] += 1;
  tally.addDoubt({ time: new Date(sentAt).toISOString(), clockOffsetMs });
}

/** Reports a row that did not succeed, and starts no more rows after too many failures. */
function reportEnd(
  { ctx, source, options: { maxFailures }, tally, stop }: RunningBatch,
  row: SourceRow,
  outcome: JobOutcome,
): void {
  const error = outcome.kind === 'dropped' ? undefined : outcome.error;
  if (isCapReached(error) || error instanceof NoMoreRunsError) return stop.stopStarting();

  // A fault that every row would meet is reported once, at the end.
  if (error === undefined || outcome.kind === 'postponed' || refusesEveryJob(error)) return;

  const candidates = outcome.kind === 'in doubt' ? outcome.candidates : undefined;
  reportRow(ctx, source.name, row, { error, candidates });
  if (tally.failedNowCount >= maxFailures) {
    stop.stopStarting(`${pluralize(maxFailures, 'row')} failed`);
  }
}
