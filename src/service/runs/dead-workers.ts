import type { Abandonment } from '../store/run-queue.ts';
import type { Store } from '../store/store.ts';

/** What a user is told of a run that was stopped, and may have been paid for. */
export function stoppedRun(runId: string, by: string): string {
  return `stopped by ${by}; the model's answer was dropped and may have been paid for. To run it again: promptrun runs rerun ${runId}`;
}

const BY_KILL = 'the end of its command, which was killed or lost its power';

/** A run of a command that died has failed: nobody else carries it out. */
const OF_COMMAND: Abandonment = { maxDeaths: 1, reason: runId => stoppedRun(runId, BY_KILL) };

/** A run of a `serve` that died is run once more. */
const OF_SERVE: Abandonment = {
  maxDeaths: 2,
  reason: () => 'the service stopped unexpectedly twice while this run was running',
};

/** With `--no-rerun` a second bill is worse than a lost answer. */
const NEVER_RERUN: Abandonment = {
  maxDeaths: 1,
  reason: runId => stoppedRun(runId, 'the end of its service'),
};

/** Fails the runs of commands that have died. Whoever reads runs does this before. */
export async function settleDeadCommands(store: Store): Promise<void> {
  if (!store.shared) await takeFromDead(store, worker => store.workers.kindOf(worker) === 'command');
}

/** Queues again what dead processes were carrying out, or fails it; `rerun` is about those of `serve`. */
export async function settleDeadWorkers(store: Store, { rerun }: { rerun: boolean }): Promise<void> {
  await takeFromDead(store, () => true, rerun ? OF_SERVE : NEVER_RERUN);
}

/** Fails what this `serve` has begun and does not end. */
export async function failUnfinished(store: Store, worker: string): Promise<void> {
  await store.queue.takeFrom(worker, NEVER_RERUN);
}

async function takeFromDead(
  store: Store,
  concerns: (worker: string) => boolean,
  ofServe: Abandonment = OF_SERVE,
): Promise<void> {
  for (const worker of await store.queue.workers()) {
    if (!concerns(worker) || (await store.workers.isAlive(worker))) continue;
    const isCommand = store.workers.kindOf(worker) === 'command';
    await store.queue.takeFrom(worker, isCommand ? OF_COMMAND : ofServe);
  }
}
