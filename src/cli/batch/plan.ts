import { errorText, type JobPlan, noRunFault } from '../jobs/job.ts';
import type { JobState } from '../jobs/read-journal.ts';
import type { Settlement } from '../jobs/settle-doubts.ts';
import type { ResultState } from './results/results-line.ts';

/** What is done with a row, by what journal and results say of it. */
export type RowPlan =
  | JobPlan
  | { readonly kind: 'leave'; readonly because: 'succeeded' | 'failed' | 'in doubt' }
  /** It has ended without a run; only its line is missing. */
  | { readonly kind: 'give'; readonly error: string; readonly mayHaveRun: boolean };

/** What is known of a row from before. */
export interface RowKnowledge {
  readonly state: JobState | undefined;
  readonly result: ResultState | undefined;
  /** What can be done about its creation, where that is in doubt. */
  readonly settlement: Settlement | undefined;
}

export interface PlanOptions {
  readonly retryFailed: boolean;
  readonly retryUnknown: boolean;
  /** Whether outputs are saved to files. */
  readonly saves: boolean;
}

/** What `--resume` does with a row. One whose creation is in doubt is never created again unless the flags say so. */
export function planRow(known: RowKnowledge, options: PlanOptions): RowPlan {
  const { state, result } = known;
  if (state === undefined) return result === undefined ? { kind: 'create' } : planEnded(result, options);
  if (state.step === 'creating') return planDoubt(known, options);
  if (state.step === 'waiting') return { kind: 'create' };
  if (state.step === 'running') return waitFor(state);
  return hasLine(state, result) ? planEnded(result, options) : planLineless(state, options);
}

/** The journal is a step ahead of the results. */
function hasLine(state: JobState, result: ResultState | undefined): result is ResultState {
  return result !== undefined && result.runId === state.runId && result.runStatus === state.step;
}

function waitFor({ runId = '', recovered }: JobState): RowPlan {
  return { kind: 'wait', runId, recovered };
}

function planLineless(state: JobState, { retryFailed }: PlanOptions): RowPlan {
  if (state.runId !== undefined) return waitFor(state);
  if (retryFailed) return { kind: 'create' };
  return { kind: 'give', error: state.error ?? 'the row failed', mayHaveRun: state.mayHaveRun };
}

function planDoubt({ state, settlement }: RowKnowledge, { retryUnknown }: PlanOptions): RowPlan {
  if (settlement?.kind === 'repeat' && state?.entry !== undefined) {
    return { kind: 'repeat', entry: state.entry };
  }
  if (settlement?.kind === 'wait') return { kind: 'wait', runId: settlement.runId, recovered: true };
  if (settlement?.kind === 'none') return { kind: 'give', error: errorText(noRunFault()), mayHaveRun: false };
  return retryUnknown ? { kind: 'create' } : { kind: 'leave', because: 'in doubt' };
}

function planEnded(result: ResultState, { retryFailed, saves }: PlanOptions): RowPlan {
  const { runStatus, runId, failed, isGone } = result;
  if (runStatus === 'succeeded') {
    // A run that succeeded is paid for: where its files are missing they are fetched, it is never created again.
    return failed && saves && runId !== undefined
      ? { kind: 'wait', runId, recovered: false }
      : { kind: 'leave', because: 'succeeded' };
  }
  if (runStatus !== 'failed' && runId !== undefined) return { kind: 'wait', runId, recovered: false };
  if (!retryFailed) return { kind: 'leave', because: 'failed' };
  return isGone && runId !== undefined ? { kind: 'wait', runId, recovered: false } : { kind: 'create' };
}
