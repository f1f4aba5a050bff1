import type { Store } from '../store/store.ts';
import type { Executor } from './executor.ts';

/** Queues again what dead processes were carrying out; what died a second time has failed. */
export async function recoverFromDead(store: Store, executor: Executor): Promise<void> {
  for (const worker of await store.queue.workers()) {
    if (await store.workers.isAlive(worker)) continue;
    const failed = await store.queue.takeFrom(worker);
    for (const id of failed) await executor.forgetInputs(id);
  }
}

/** Releases runs that the store has as this process's, though the process never got them. */
export async function releaseStrays(
  { queue, workers }: Store,
  isInHand: (id: string) => boolean,
): Promise<void> {
  const worker = workers.registered();
  if (worker === undefined) return;
  const running = await queue.runningOf(worker);
  await queue.release(
    worker,
    running.filter(id => !isInHand(id)),
  );
}
