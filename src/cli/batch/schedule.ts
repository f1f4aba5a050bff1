import { usageError } from '../errors.ts';
import { type JobParts, Jobs } from './jobs.ts';
import { planRow } from './plan.ts';
import { runlessLine } from './results-line.ts';
import { type FaultyRow, isFaulty, type SourceRow } from './row.ts';
import { errorText } from './row-fault.ts';
import { isInShard } from './shard.ts';

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
