import type { JobPlan } from '../jobs/job.ts';
import { formatError, noRunError } from '../jobs/job-errors.ts';
import type { JobState } from '../jobs/read-journal.ts';
import type { Settlement } from '../jobs/settle-doubts.ts';
import type { ResultState } from './results/result-state.ts';

/** The next action for a row, by its journal and results. */
export type RowPlan =
  | JobPlan
  | { readonly kind: 'leave'; readonly reason: 'succeeded' | 'failed' | 'in doubt' }
  /** Write the missing line of a row that ended without a run. */
  | { readonly kind: 'write line'; readonly error: string; readonly mayHaveRun: boolean };

/** The state of a row after earlier invocations. */
export interface RowHistory {
  readonly state: JobState | undefined;
  readonly result: ResultState | undefined;
  /** The settlement of its creation, if that was in doubt. */
  readonly settlement: Settlement | undefined;
}

export interface PlanOptions {
  readonly retryFailed: boolean;
  readonly retryUnknown: boolean;
  /** True if outputs are saved to files. */
  readonly savesOutputs: boolean;
}

/** Plans a row for `--resume`. Never creates a row in doubt again without `--retry-unknown`. */
export function planRow(history: RowHistory, options: PlanOptions): RowPlan {
  const { state, result } = history;
  if (state === undefined) {
    return result === undefined ? { kind: 'create' } : planEnded(result, options);
  }

  if (state.step === 'creating') return planDoubt(history, options);
  if (state.step === 'waiting') return { kind: 'create' };
  if (state.step === 'running') return planWait(state);
  return hasMatchingLine(state, result)
    ? planEnded(result, options)
    : planWithoutLine(state, options);
}

/** Returns true if the result matches the journal, which is written first. */
function hasMatchingLine(state: JobState, result: ResultState | undefined): result is ResultState {
  return result !== undefined && result.runId === state.runId && result.runStatus === state.step;
}

function planWait({ runId = '', recovered }: JobState): RowPlan {
  return { kind: 'wait', runId, recovered };
}

function planWithoutLine(state: JobState, { retryFailed }: PlanOptions): RowPlan {
  if (state.runId !== undefined) return planWait(state);
  if (retryFailed) return { kind: 'create' };
  return {
    kind: 'write line',
    error: state.error ?? 'the row failed',
    mayHaveRun: state.mayHaveRun,
  };
}

function planDoubt({ state, settlement }: RowHistory, { retryUnknown }: PlanOptions): RowPlan {
  if (settlement?.kind === 'repeat' && state?.entry !== undefined) {
    return { kind: 'repeat', entry: state.entry };
  }

  if (settlement?.kind === 'wait') {
    return { kind: 'wait', runId: settlement.runId, recovered: true };
  }

  if (settlement?.kind === 'none') {
    return { kind: 'write line', error: formatError(noRunError()), mayHaveRun: false };
  }

  return retryUnknown ? { kind: 'create' } : { kind: 'leave', reason: 'in doubt' };
}

function planEnded(result: ResultState, { retryFailed, savesOutputs }: PlanOptions): RowPlan {
  const { runStatus, runId, hasFailed, isGone } = result;
  if (runStatus === 'succeeded') {
    // A successful run is paid for, so missing files are downloaded again and the run is never
    // repeated.
    return hasFailed && savesOutputs && runId !== undefined
      ? { kind: 'wait', runId, recovered: false }
      : { kind: 'leave', reason: 'succeeded' };
  }

  if (runStatus !== 'failed' && runId !== undefined) {
    return { kind: 'wait', runId, recovered: false };
  }

  if (!retryFailed) return { kind: 'leave', reason: 'failed' };
  return isGone && runId !== undefined
    ? { kind: 'wait', runId, recovered: false }
    : { kind: 'create' };
}
