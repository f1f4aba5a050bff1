import { type CreateRunRequest, type ImageInput, isUuid } from '../../wire/index.ts';
import { notFound, Refusal } from '../core/refusal.ts';
import type { Abandonment } from '../store/runs/run-queue.ts';
import type { StoredRun } from '../store/runs/run-records.ts';
import type { Store } from '../store/store.ts';
import { isStoreUnavailable } from '../store/store-errors.ts';
import type { InputFiles } from './input-files.ts';
import { outcomeIfEnded } from './run-work.ts';
import { stoppedRun } from './stopped-run.ts';

const BY_KILL = 'the end of its command, which was killed or lost its power';

/** A run of a dead command has failed: no other process carries it out. */
const OF_COMMAND: Abandonment = { maxDeaths: 1, reason: runId => stoppedRun(runId, BY_KILL, 'command') };

const byEndOfService = (runId: string): string => stoppedRun(runId, 'the end of its service', 'serve');

/** A run of a dead `serve` is carried out once more, unless its model is a program. */
const OF_SERVE: Abandonment = {
  maxDeaths: 2,
  reason: () => 'the service stopped unexpectedly twice while this run was running',
  programReason: byEndOfService,
};

/** The rules for `--no-rerun`: a second bill is worse than a lost answer. */
export const NEVER_RERUN: Abandonment = { maxDeaths: 1, reason: byEndOfService };

/** Fails the runs of dead commands. Called before runs are read. */
export async function settleDeadCommands(store: Store): Promise<void> {
  if (!store.shared) await takeFromDead(store, worker => store.workers.workerKind(worker) === 'command');
}

/** Queues runs of dead processes again, or fails them; `rerun` applies to runs of a `serve`. */
export async function settleDeadWorkers(store: Store, { rerun }: { rerun: boolean }): Promise<void> {
  await takeFromDead(store, () => true, rerun ? OF_SERVE : NEVER_RERUN);
}

async function takeFromDead(
  store: Store,
  concerns: (worker: string) => boolean,
  ofServe: Abandonment = OF_SERVE,
): Promise<void> {
  for (const worker of await store.queue.workersWithRuns()) {
    if (!concerns(worker) || (await store.workers.isAlive(worker))) continue;
    const isCommand = store.workers.workerKind(worker) === 'command';
    await store.queue.settleDeadWorker(worker, isCommand ? OF_COMMAND : ofServe);
  }
}

/** Returns a user's run in its current state; a run of a dead command has failed. */
export async function findRun(store: Store, userId: number, id: string): Promise<StoredRun | undefined> {
  const run = await store.runs.find(userId, id);
  if (!run || outcomeIfEnded(run)) return run;
  await settleDeadCommands(store);
  return await store.runs.find(userId, id);
}

/** Like `findRun`. @throws {Refusal} NOT_FOUND if the user has no such run */
export async function requireRun(store: Store, userId: number, runId: string): Promise<StoredRun> {
  const id = runId.toLowerCase();
  const run = isUuid(id) ? await findRun(store, userId, id) : undefined;
  if (!run) throw notFound('the run does not exist');
  return run;
}

const WHY_NOT_KEPT = 'it failed before a model was asked, or an earlier version made it';

/**
 * Returns the body that created a run.
 *
 * @throws {Refusal} NOT_FOUND if it is not kept, GONE if its pictures are no longer
 */
export async function creationBody(
  { store, inputs }: { readonly store: Store; readonly inputs: InputFiles },
  userId: number,
  id: string,
): Promise<CreateRunRequest> {
  const stored = await store.runs.storedRequest(userId, id);
  if (!stored) throw notFound(`the request of the run is not kept: ${WHY_NOT_KEPT}`);
  const { images, urls = [], runOptions } = stored.request;
  const textInputs = await inputs.readTexts(id, stored.request);
  const isSent = images.length > 0 && !images.every((_, index) => typeof urls[index] === 'string');
  const bytes = isSent ? await inputs.load(id, images).catch(goneRefusal) : [];
  const imageInputs = images.map((_, index): ImageInput => {
    const url = urls[index];
    if (typeof url === 'string') return { type: 'url', url };
    return { type: 'base64', base64: bytes[index]?.bytes.toString('base64') ?? '' };
  });
  return {
    promptVersionId: stored.promptVersionId,
    inputs: {
      ...(Object.keys(textInputs).length > 0 && { textInputs }),
      ...(imageInputs.length > 0 && { imageInputs }),
    },
    ...(Object.keys(runOptions).length > 0 && { runOptions }),
  };
}

function goneRefusal(error: unknown): never {
  if (isStoreUnavailable(error)) throw error;
  throw new Refusal('GONE', "the pictures of the run's request are no longer kept");
}
