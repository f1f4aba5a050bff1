import { CREATING, type RowState, UNKNOWN, WAITING } from './results-line.ts';

/** What is done with a row, by what the results say of it. */
export type RowPlan =
  | { readonly kind: 'create' }
  /** Its run is known: it is waited for, and its outputs saved. */
  | { readonly kind: 'wait'; readonly runId: string }
  | { readonly kind: 'leave'; readonly because: 'succeeded' | 'failed' | 'in doubt' };

export interface PlanOptions {
  readonly retryFailed: boolean;
  readonly retryUnknown: boolean;
  /** Whether outputs are saved to files. */
  readonly saves: boolean;
}

/** What `--resume` does with a row. One whose creation is in doubt is never created again unless told to. */
export function planRow(state: RowState | undefined, options: PlanOptions): RowPlan {
  if (state === undefined) {
    return { kind: 'create' };
  }
  switch (state.runStatus) {
    case 'succeeded':
      return planSucceeded(state, options);
    case 'failed':
      return options.retryFailed ? { kind: 'create' } : { kind: 'leave', because: 'failed' };
    case WAITING:
      return { kind: 'create' };
    case CREATING:
    case UNKNOWN:
      return options.retryUnknown ? { kind: 'create' } : { kind: 'leave', because: 'in doubt' };
    default:
      return state.runId === undefined
        ? planRow({ ...state, runStatus: UNKNOWN }, options)
        : { kind: 'wait', runId: state.runId };
  }
}

/** A run that succeeded is paid for: where its files are missing they are fetched, it is never created again. */
function planSucceeded({ runId, failed }: RowState, { saves }: PlanOptions): RowPlan {
  return failed && saves && runId !== undefined
    ? { kind: 'wait', runId }
    : { kind: 'leave', because: 'succeeded' };
}
