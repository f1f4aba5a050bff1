import type { QueuedRun } from '../store/run-queue.ts';
import type { WorkerLocks } from '../store/sqlite/worker-locks.ts';
import type { Store } from '../store/store.ts';
import type { Executor } from './executor.ts';

/** What looking around came to. */
export interface Found {
  runs: QueuedRun[];
  /** Whether there may be more that nobody has in hand. */
  moreLeft: boolean;
}

/** Takes over the runs of dead processes, then takes up to `free` runs that nobody has in hand. */
export async function claimOrphans(
  { store, locks, executor }: { store: Store; locks: WorkerLocks; executor: Executor },
  free: number,
): Promise<Found> {
  for (const worker of await store.queue.workers()) {
    if (await locks.isAlive(worker)) continue;
    const failed = await store.queue.takeFrom(worker);
    for (const id of failed) await executor.forgetInputs(id);
  }
  const moreLeft = await store.queue.hasOrphans();
  if (!moreLeft || free <= 0) return { runs: [], moreLeft };
  const runs = await store.queue.claim(await locks.hold(), free);
  return { runs, moreLeft: runs.length === free };
}
