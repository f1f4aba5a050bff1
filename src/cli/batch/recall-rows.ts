import type { Context } from '../context.ts';
import { pluralize } from '../core/pluralize.ts';
import type { Budget } from '../creation/spending/budget.ts';
import type { HandoverRow } from '../jobs/provider-batch/batch-handover.ts';
import type { JobState } from '../jobs/read-journal.ts';
import { collectEarlierSpending, type RecalledJobs, recallJobs } from '../jobs/recall-jobs.ts';
import { findUnknownRunStep, reportSecondPayments } from '../jobs/second-payments.ts';
import { type OpenBatch, planBatchRow } from './planned-rows.ts';

/** Recalls the jobs of the rows that earlier invocations sent. */
export function recallRows(
  ctx: Context,
  { batch, results, journal, firstPass }: OpenBatch,
): Promise<RecalledJobs> {
  return recallJobs(ctx, batch.connection, journal, {
    changedJobIds: firstPass?.changedIds ?? new Set(),
    otherRunIds: [...results.states.values()].flatMap(({ runs }) => runs.map(({ runId }) => runId)),
  });
}

/** Counts the spending of earlier invocations, certain or possible. */
export function countEarlierRuns(
  budget: Budget,
  { batch: { connection, promptVersionId }, results }: OpenBatch,
  {
    recalledJobs,
    handoverRows,
  }: {
    readonly recalledJobs: RecalledJobs;
    readonly handoverRows: ReadonlyMap<string, HandoverRow>;
  },
): void {
  const jobSpending = collectEarlierSpending(recalledJobs);
  const states = [...results.states];

  // Results come first, because they have the runs' amounts, and a run is counted only once.
  const runs = states.flatMap(([, state]) => state.runs.map(run => ({ ...run, promptVersionId })));
  const doubtIdsInResults = states
    .filter(([id, { mayHaveRun }]) => mayHaveRun && !recalledJobs.states.has(id))
    .map(([id]) => id);
  const unansweredRows = [...handoverRows].filter(([id]) => !hasEnded(recalledJobs.states.get(id)));
  const unansweredIds = unansweredRows.map(([, { customId }]) => customId);
  budget.countEarlierSpending(connection, {
    runs: [...runs, ...jobSpending.runs],
    doubtIds: [...jobSpending.doubtIds, ...doubtIdsInResults, ...unansweredIds],
  });
}

/** Warns how many runs of rows may be paid for twice, before they are. */
export function reportSecondRowPayments(
  ctx: Context,
  openBatch: OpenBatch,
  recalledJobs: RecalledJobs,
): void {
  const { options, results } = openBatch;
  const earlierIds = new Set([...results.states.keys(), ...recalledJobs.states.keys()]);
  const recreatedIds = [...earlierIds].filter(
    id => planBatchRow(openBatch, id, recalledJobs).kind === 'create',
  );
  const steps = recreatedIds.map(id => {
    const isFailedResult = results.states.get(id)?.mayHaveRun === true;
    return findUnknownRunStep(recalledJobs, id) ?? (isFailedResult ? 'failed' : undefined);
  });
  reportSecondPayments(ctx, steps.filter(step => step === 'creating').length);

  const failedCount = steps.filter(step => step === 'failed').length;
  if (options.retryFailed && failedCount > 0) {
    ctx.io.note(
      `note: --retry-failed: ${pluralize(failedCount, 'run')} may be paid for twice, because the first attempt ended in a fault of the service`,
    );
  }
}

function hasEnded(state: JobState | undefined): boolean {
  return state?.step === 'succeeded' || state?.step === 'failed';
}
