import type { Executor } from './executor.ts';
import type { QueuedRun } from './store/run-queue.ts';
import type { Store } from './store/store.ts';
import type { WorkerLocks } from './store/worker-locks.ts';

/** Takes over the runs of dead processes, then takes up to `free` runs that nobody has in hand. */
export async function lookAround(
  { store, locks, executor }: { store: Store; locks: WorkerLocks; executor: Executor },
  free: number,
): Promise<QueuedRun[]> {
  for (const worker of await store.queue.workers()) {
    if (await locks.isAlive(worker)) continue;
    const failed = await store.queue.takeFrom(worker);
    for (const id of failed) await executor.forgetInputs(id);
  }
  if (free <= 0 || !(await store.queue.hasOrphans())) return [];
  return await store.queue.claim(await locks.hold(), free);
}
