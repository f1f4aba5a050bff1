import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import path from 'node:path';
import { SpillFile } from '../../files/writing/spill-file.ts';
import { getErrorMessage } from '../../utils/error-utils.ts';
import type { Context } from '../context.ts';
import { unwritableError, usageError } from '../core/errors.ts';
import type { ExitCode } from '../core/exit-codes.ts';
import { Budget } from '../creation/spending/budget.ts';
import { buildRunBody } from '../inputs/request-body.ts';
import { isFaulty, type SourceRow } from '../inputs/rows/row.ts';
import {
  openRowSource,
  type RowSource,
  readRows,
  toRepeatableSource,
} from '../inputs/rows/row-source.ts';
import type { BatchFacts } from '../jobs/batch-journal.ts';
import type { Job, JobOutcome } from '../jobs/job.ts';
import { runJobs } from '../jobs/job-engine.ts';
import { getConcurrency } from '../jobs/paced-connection.ts';
import { collectHandoverRows } from '../jobs/provider-batch/batch-handover.ts';
import { findBatchProvider } from '../jobs/provider-batch/batch-session.ts';
import { handOverJobs } from '../jobs/provider-batch/hand-over-jobs.ts';
import type { RecalledJobs } from '../jobs/recall-jobs.ts';
import { StopControl } from '../jobs/stop-control.ts';
import type { BatchOptions } from './batch-options.ts';
import { finishRow, type RunningBatch } from './finish-row.ts';
import { isNewJournal, openBatchFiles } from './open-files.ts';
import { type OpenBatch, planBatchRow, planBatchRows, type RowJob } from './planned-rows.ts';
import { type PreparedBatch, prepareBatch, prepareRow } from './prepare-batch.ts';
import { startBatchProgress } from './progress/progress-line.ts';
import { RowTally } from './progress/row-tally.ts';
import { countEarlierRuns, recallRows, reportSecondRowPayments } from './recall-rows.ts';
import { concludeBatch } from './report/conclude-batch.ts';
import { checkOutputPaths } from './results/open-results.ts';

/** Runs a target once for each row of a file and writes the results. */
export async function runBatch(ctx: Context, options: BatchOptions): Promise<ExitCode> {
  checkOutputPaths(ctx, options);
  const source = await openRowSource(ctx, options);
  const batch = await prepareBatch(ctx, options);
  if (options.dryRun) return runDry(ctx, options, source, batch);

  await checkPrice(ctx, source, batch, options);
  if (options.providerBatch) await findBatchProvider(batch.connection, batch.promptVersionId);

  // Every row is compared with the earlier requests before anything is sent.
  const rowSource = options.resume ? await toRepeatableSource(source, ctx.signal) : source;
  const files = await openBatchFiles(ctx, options, rowSource, batch);
  try {
    return await runBatchRows(ctx, { options, source: rowSource, batch, ...files });
  } finally {
    await files.journal.close();
    await files.results.close();
    files.releaseLock();
  }
}

/** Checks and prices the rows that would be run: with `--resume`, those that are left. */
async function runDry(
  ctx: Context,
  options: BatchOptions,
  source: RowSource,
  batch: PreparedBatch,
): Promise<ExitCode> {
  const { dryRunBatch } = await import('./dry-run.ts');
  const { resume, out = '' } = options;
  if (!resume || !existsSync(path.resolve(ctx.cwd, out))) {
    return dryRunBatch(ctx, source, batch, options);
  }

  const rowSource = await toRepeatableSource(source, ctx.signal);
  const { journal, results, firstPass, releaseLock } = await openBatchFiles(
    ctx,
    options,
    rowSource,
    batch,
  );
  try {
    const recalledJobs: RecalledJobs = { states: journal.states, settlements: new Map() };
    const needsRun = (id: string): boolean =>
      planBatchRow({ options, results, firstPass }, id, recalledJobs).kind === 'create';
    return await dryRunBatch(ctx, rowSource, batch, { ...options, needsRun });
  } finally {
    await (isNewJournal(journal) ? journal.remove() : journal.close());
    await results.close();
    releaseLock();
  }
}

/**
 * Refuses a model without a price under `--max-cost` before any file is made.
 *
 * @throws {CliError}
 */
async function checkPrice(
  ctx: Context,
  source: RowSource,
  batch: PreparedBatch,
  { caps }: BatchOptions,
): Promise<void> {
  if (caps.cost === undefined || !source.isRepeatable) return;

  // All rows ask the same model, so the first valid one shows whether it has a price.
  for await (const row of readRows(source, ctx.signal)) {
    if (isFaulty(row)) continue;
    const request = await prepareRow(ctx, batch, row).catch(() => undefined);
    if (request === undefined) continue;
    await new Budget(ctx, caps).checkPrice(batch.connection, buildRunBody(request));
    return;
  }
}

/** Recalls the rows of earlier invocations, runs the others and concludes the batch. */
async function runBatchRows(ctx: Context, openBatch: OpenBatch): Promise<ExitCode> {
  const { options, journal, firstPass } = openBatch;
  const recalledJobs = await recallRows(ctx, openBatch);
  reportSecondRowPayments(ctx, openBatch, recalledJobs);
  await journal.begin(getBatchFacts(openBatch), new Date(ctx.clock.now()).toISOString());

  const tally = new RowTally(firstPass?.rowCount);
  const stop = new StopControl();
  const budget = new Budget(ctx, options.caps, { stopSignal: stop.stopSignal });
  const handoverRows = collectHandoverRows(journal);
  countEarlierRuns(budget, openBatch, { recalledJobs, handoverRows });

  const runningBatch: RunningBatch = {
    ...openBatch,
    ctx: { ...ctx, signal: stop.dropSignal },
    budget,
    tally,
    stop,
  };

  const usesProviderBatches = options.providerBatch || handoverRows.size > 0;
  const stopListening = stop.listen(ctx, tally);
  const stopProgress = startBatchProgress(ctx, tally, { hasLines: !usesProviderBatches });
  try {
    await runAllRows(runningBatch, recalledJobs, { usesProviderBatches });
  } catch (error) {
    await removeUnusedFiles(ctx, openBatch);
    throw error;
  } finally {
    await stopProgress();
    stopListening();
  }

  const readCount = stop.isStopping() ? undefined : tally.doneCount + tally.postponedCount;
  return concludeBatch(ctx, runningBatch, firstPass?.rowCount ?? readCount);
}

/** Returns the facts that a resumed batch must share with this one. */
function getBatchFacts({ batch, firstPass }: OpenBatch): BatchFacts {
  const { connection, promptVersionId, runOptions } = batch;
  return {
    service: connection.serviceName,
    promptVersionId,
    options: Object.fromEntries(runOptions),
    rows: firstPass?.rowCount,
  };
}

/** Runs the rows as jobs, directly or in the provider's batches. */
async function runAllRows(
  runningBatch: RunningBatch,
  recalledJobs: RecalledJobs,
  { usesProviderBatches }: { readonly usesProviderBatches: boolean },
): Promise<void> {
  const { batch, journal, options, stop, tally } = runningBatch;
  const { connection, promptVersionId, estimatedCredits } = batch;

  const settle = async (job: Job, outcome: JobOutcome): Promise<void> => {
    await finishRow(runningBatch, (job as RowJob).readSourceRow(), outcome);
    job.batchAnswer?.withdraw();
  };

  // A provider may take a day, and its batches may hold more rows than the memory.
  const spillFile = usesProviderBatches
    ? await SpillFile.open(path.dirname(journal.filePath))
    : undefined;
  const keepRow = (row: SourceRow): RowJob['readSourceRow'] =>
    spillFile ? spillRow(spillFile, row, journal.filePath) : () => row;
  const plannedJobs = planBatchRows(runningBatch, recalledJobs, keepRow);

  const jobContext = {
    ...runningBatch,
    connection,
    estimatedCredits,
    stopSignal: stop.stopSignal,
  };
  const { cancel, retryUnknown } = options;

  const jobs = usesProviderBatches
    ? handOverJobs(plannedJobs, { ...jobContext, promptVersionId, cancel, retryUnknown, settle })
    : plannedJobs;
  try {
    await runJobs(jobs, {
      jobContext,
      concurrency: getConcurrency(connection, options.concurrency),
      stop,
      onRunning: () => tally.beginRunning(),
      settle,
    });
  } finally {
    await spillFile?.close();
  }
}

/**
 * Stores a row beside the journal.
 *
 * @throws {CliError} if the disk is full
 */
function spillRow(
  spillFile: SpillFile,
  row: SourceRow,
  journalPath: string,
): RowJob['readSourceRow'] {
  try {
    return spillFile.store(row);
  } catch (error) {
    const folder = path.dirname(journalPath);
    throw unwritableError(
      error,
      usageError(`${folder} can't hold the rows: ${getErrorMessage(error)}`),
    );
  }
}

/**
 * Removes the files of a batch that failed before its first row, so that the corrected command can
 * use their names.
 */
async function removeUnusedFiles(
  ctx: Context,
  { options, journal, results }: OpenBatch,
): Promise<void> {
  const { out, resume, stream } = options;
  if (resume || journal.hasJobs) return;
  await journal.remove();
  await results.close();
  if (out !== undefined && stream === undefined) {
    await rm(path.resolve(ctx.cwd, out), { force: true });
  }
}
