import type { DeadWorkerRules } from '../../store/runs/run-queue.ts';
import type { Store } from '../../store/store.ts';
import { stoppedRunError } from './stopped-run.ts';

/** The cause in the error of a run whose command died. */
const KILLED_COMMAND_CAUSE = 'the end of its command, which was killed or lost its power';

/** A run of a dead command has failed: no other process carries it out. */
const COMMAND_RULES: DeadWorkerRules = {
  maxDeaths: 1,
  explainFailure: runId => stoppedRunError(runId, KILLED_COMMAND_CAUSE, 'command'),
};

const explainServiceEnd = (runId: string): string =>
  stoppedRunError(runId, 'the end of its service', 'serve');

/** A run of a dead `serve` is carried out once more, unless its model is a program. */
const SERVE_RULES: DeadWorkerRules = {
  maxDeaths: 2,
  explainFailure: () => 'the service stopped unexpectedly twice while this run was running',
  explainProgramFailure: explainServiceEnd,
};

/** The rules for `--no-rerun`: a second bill is worse than a lost answer. */
export const NEVER_RERUN: DeadWorkerRules = { maxDeaths: 1, explainFailure: explainServiceEnd };

/** Fails the runs of dead commands. Called before runs are read. */
export async function settleDeadCommands(store: Store): Promise<void> {
  if (!store.isShared) {
    await settleMatchingWorkers(store, worker => store.workers.getWorkerKind(worker) === 'command');
  }
}

/** Queues runs of dead processes again, or fails them; `rerun` applies to runs of a `serve`. */
export async function settleDeadWorkers(
  store: Store,
  { rerun }: { rerun: boolean },
): Promise<void> {
  await settleMatchingWorkers(store, () => true, rerun ? SERVE_RULES : NEVER_RERUN);
}

async function settleMatchingWorkers(
  store: Store,
  matchesWorker: (worker: string) => boolean,
  serveRules: DeadWorkerRules = SERVE_RULES,
): Promise<void> {
  for (const worker of await store.queue.findWorkersWithRuns()) {
    if (!matchesWorker(worker) || (await store.workers.isAlive(worker))) continue;
    const isCommand = store.workers.getWorkerKind(worker) === 'command';
    await store.queue.settleDeadWorker(worker, isCommand ? COMMAND_RULES : serveRules);
  }
}
