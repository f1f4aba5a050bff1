import { isUuid } from '../../wire/index.ts';
import { notFound } from '../core/refusal.ts';
import { findOutcome, type StoredRun } from '../store/runs/run-records.ts';
import type { Store } from '../store/store.ts';
import { settleDeadCommands } from './execution/dead-workers.ts';

/** Returns a user's run in its current state. First fails the runs of commands that have died. */
export async function findRun(
  store: Store,
  userId: number,
  id: string,
): Promise<StoredRun | undefined> {
  const run = await store.runs.find(userId, id);
  if (!run || findOutcome(run)) return run;
  await settleDeadCommands(store);
  return await store.runs.find(userId, id);
}

/** Returns a run like `findRun`. @throws {Refusal} NOT_FOUND if the user has no such run */
export async function requireRun(store: Store, userId: number, runId: string): Promise<StoredRun> {
  const id = runId.toLowerCase();
  const run = isUuid(id) ? await findRun(store, userId, id) : undefined;
  if (!run) throw notFound('the run does not exist');
  return run;
}
