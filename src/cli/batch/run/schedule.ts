import { usageError } from '../../errors.ts';
import { CREATING, type RowState, runlessLine, UNKNOWN, WAITING } from '../results/results-line.ts';
import { type FaultyRow, isFaulty, type SourceRow } from '../rows/row.ts';
import { isInShard } from '../rows/shard.ts';
import { type JobParts, Jobs } from './jobs.ts';
import { errorText } from './row-fault.ts';

/** Runs rows as creations become free; resolves when each has ended. @throws what no row could go on after */
export async function runRows(rows: AsyncIterable<SourceRow>, parts: JobParts): Promise<void> {
  const jobs = new Jobs(parts);
  try {
    await startAll(rows, jobs, parts);
  } catch (error) {
    jobs.fail(error);
  }
  await jobs.ended();
}

async function startAll(rows: AsyncIterable<SourceRow>, jobs: Jobs, parts: JobParts): Promise<void> {
  const { stop, options } = parts;
  try {
    for await (const row of rows) {
      if (stop.isStopping()) {
        return;
      }
      if (isInShard(options.shard, row.row)) {
        await start(row, jobs, parts);
      }
    }
  } catch (error) {
    // The rows are left in the middle when no more are wanted.
    if (!stop.isStopping()) {
      throw error;
    }
  }
}

async function start(row: SourceRow, jobs: Jobs, { options, results, tally }: JobParts): Promise<void> {
  const plan = planRow(results.states.get(row.id), { ...options, saves: options.saveTo !== undefined });
  if (plan.kind === 'leave') {
    tally.before[plan.because] += 1;
  } else if (plan.kind === 'wait') {
    await jobs.launch({ ...plan, row });
  } else if (isFaulty(row)) {
    await refuse(row, jobs);
  } else {
    await jobs.launch({ ...plan, row });
  }
}

async function refuse(row: FaultyRow, jobs: Jobs): Promise<void> {
  const error = usageError(row.fault);
  const line = runlessLine(row, 'failed', errorText(error, row));
  await jobs.settle(row, { kind: 'ended', end: 'failed', line, error });
}

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
