import { CliError, usageError } from '../core/errors.ts';
import { EXIT } from '../core/exit-codes.ts';
import { listDoubtHints } from '../creation/in-doubt.ts';
import type { RunRequest } from '../inputs/request-body.ts';
import { isFaulty, type SourceRow } from '../inputs/rows/row.ts';
import { readRows } from '../inputs/rows/row-source.ts';
import { isInShard } from '../inputs/rows/shard.ts';
import { type Job, toFailedOutcome } from '../jobs/job.ts';
import type { PlannedJob } from '../jobs/job-engine.ts';
import { parseError } from '../jobs/job-errors.ts';
import type { RecalledJobs } from '../jobs/recall-jobs.ts';
import { finishRow, type RunningBatch } from './finish-row.ts';
import type { BatchFiles } from './open-files.ts';
import { planRow, type RowPlan } from './plan-row.ts';
import { prepareRow, throwIfStrayColumn } from './prepare-batch.ts';
import { reportRow } from './progress/report-row.ts';

export type OpenBatch = Pick<RunningBatch, 'options' | 'source' | 'batch' | keyof BatchFiles>;

export interface RowJob extends Job {
  /** Returns the row, which may have been kept on disk. */
  readonly readSourceRow: () => SourceRow;
}

/**
 * Yields a job for each row that needs a run; reports or finishes every other row.
 *
 * @param keepRow keeps a row until its run has ended
 */
export async function* planBatchRows(
  runningBatch: RunningBatch,
  recalledJobs: RecalledJobs,
  keepRow: (row: SourceRow) => RowJob['readSourceRow'],
): AsyncGenerator<PlannedJob> {
  const { ctx, batch, source, options, stop, tally } = runningBatch;
  for await (const row of readRows(source, stop.stopSignal, batch.fields)) {
    if (row.row === 1) throwIfStrayColumn(batch, source, row);
    if (!isInShard(options.shard, row.row)) continue;

    const plan = planBatchRow(runningBatch, row.id, recalledJobs);
    if (plan.kind === 'leave') {
      tally.countsBefore[plan.reason] += 1;
      if (plan.reason === 'in doubt') reportDoubt(runningBatch, row, recalledJobs);
    } else if (plan.kind === 'write line') {
      const { error: errorText, mayHaveRun } = plan;
      await finishRow(runningBatch, row, {
        ...toFailedOutcome(ctx, parseError(errorText)),
        errorText,
        mayHaveRun,
      });
    } else if (plan.kind === 'create' && isFaulty(row)) {
      await finishRow(runningBatch, row, toFailedOutcome(ctx, usageError(row.fault)));
    } else {
      yield { job: createRowJob(runningBatch, row, keepRow(row)), plan };
    }
  }
}

function createRowJob(
  { ctx, batch }: RunningBatch,
  { id, row }: SourceRow,
  readSourceRow: RowJob['readSourceRow'],
): RowJob {
  const buildRequest = async (): Promise<RunRequest> => {
    const keptRow = readSourceRow();
    if (isFaulty(keptRow)) throw usageError(keptRow.fault);
    return prepareRow(ctx, batch, keptRow);
  };
  return { id, row, buildRequest, readSourceRow };
}

/**
 * Plans a row. A row that has changed since it was sent is left alone or run again; if in doubt, it
 * stays so.
 */
export function planBatchRow(
  { options, results, firstPass }: Pick<OpenBatch, 'options' | 'results' | 'firstPass'>,
  id: string,
  { states, settlements }: RecalledJobs,
): RowPlan {
  const hasChanged = firstPass?.changedIds.has(id) ?? false;
  const isSkipped = hasChanged && options.changed === 'skip';
  const history = {
    state: states.get(id),
    result: results.states.get(id),
    settlement: settlements.get(id),
  };

  const plan = planRow(history, {
    retryFailed: options.retryFailed && !isSkipped,
    retryUnknown: options.retryUnknown && !isSkipped,
    savesOutputs: options.saveTo !== undefined,
  });
  if (!hasChanged || plan.kind === 'wait') return plan;

  if (isSkipped) {
    return plan.kind === 'create' ? { kind: 'leave', reason: 'failed' } : plan;
  }

  return plan.kind === 'leave' && plan.reason === 'in doubt' ? plan : { kind: 'create' };
}

/** Names the candidate runs of a row whose creation was never answered in an earlier invocation. */
function reportDoubt(
  { ctx, source, tally, batch: { connection } }: RunningBatch,
  row: SourceRow,
  { states, settlements }: RecalledJobs,
): void {
  const settlement = settlements.get(row.id);
  const entry = states.get(row.id)?.entry;
  if (entry !== undefined) tally.addDoubt(entry);
  const candidates = settlement?.kind === 'in doubt' ? settlement.candidates : undefined;
  const error = new CliError('the creation was never answered', {
    status: 'NETWORK_ERROR',
    exitCode: EXIT.fault,
    hints: entry === undefined ? [] : listDoubtHints(connection, entry, candidates),
  });
  reportRow(ctx, source.name, row, { error, candidates: candidates ?? [] });
}
