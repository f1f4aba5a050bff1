import { writeNewRun } from '../runs/run-creation.ts';
import { endRun } from '../runs/run-endings.ts';
import {
  CreationRefusedError,
  type NewRun,
  type RunOutcome,
  type RunWrites,
  type UserLimits,
} from '../runs/run-records.ts';
import type { Db, Writer } from '../writer.ts';
import {
  CREATE_RUNS,
  CREATE_RUNS_UNLESS_LOCKED,
  createAllAtOnce,
  type RunCreationResult,
  type RunInsert,
  rethrowUnlessRefused,
} from './create-runs.ts';
import { endAllAtOnce, type RunEnding } from './end-runs.ts';
import { LaneBatcher } from './lane-batcher.ts';
import { createUseCounter, type UseCounter } from './use-counter.ts';

/** Maximum number of creations or endings in one statement. */
const MAX_BATCH_SIZE = 64;

/**
 * Creates and ends runs in batches of one statement, which is its own transaction. All users share
 * the statements that create runs, except while another process has locked a user, who must not
 * keep the others waiting.
 */
export function createRunWrites(db: Db, writer: Writer): RunWrites {
  const useCounter = createUseCounter(db);
  const sharedBatches = new LaneBatcher<RunInsert, RunCreationResult | undefined>(
    items => createAllAtOnce(db, useCounter, items, CREATE_RUNS_UNLESS_LOCKED),
    MAX_BATCH_SIZE,
  );
  const userBatches = new LaneBatcher<RunInsert, RunCreationResult>(
    items => createUserRuns(db, writer, useCounter, items),
    MAX_BATCH_SIZE,
  );
  const endings = new LaneBatcher<RunEnding, boolean>(
    items => endEach(db, writer, items),
    MAX_BATCH_SIZE,
  );

  return {
    async create(run: NewRun, limits: UserLimits, now: number): Promise<string> {
      const creation = { run, limits, now };
      const user = String(run.userId);

      const createTogether = async (): Promise<RunCreationResult> => {
        const isUserWaiting = userBatches.isWorking(user);
        const result = isUserWaiting ? undefined : await sharedBatches.add('', creation, user);
        return result ?? (await userBatches.add(user, creation));
      };

      // A run that has already ended is rare, and takes more than one statement.
      const result = await (run.outcome ? createSeparately(writer, creation) : createTogether());
      if (result instanceof CreationRefusedError) throw result;
      return result;
    },
    end: (id: string, userId: number, worker: string, outcome: RunOutcome): Promise<boolean> => {
      const changesUser = outcome.status === 'failed' || outcome.media.length > 0;
      return endings.add(changesUser ? String(userId) : '', { id, worker, outcome });
    },
    countPendingUses: (promptId: string): number => useCounter.countPending(promptId),
    flush: () => useCounter.flush(),
  };
}

/** Creates runs of one user, one by one if they can't be created together. */
async function createUserRuns(
  db: Db,
  writer: Writer,
  useCounter: UseCounter,
  items: readonly RunInsert[],
): Promise<readonly RunCreationResult[]> {
  const jointResults = await createAllAtOnce(db, useCounter, items, CREATE_RUNS);
  const results: RunCreationResult[] = [];
  for (const [index, item] of items.entries()) {
    results.push(jointResults[index] ?? (await createSeparately(writer, item)));
  }
  return results;
}

/** Creates a run statement by statement, which names the reason of a refusal. */
async function createSeparately(
  writer: Writer,
  { run, limits, now }: RunInsert,
): Promise<string | CreationRefusedError> {
  try {
    return await writer.write(trx => writeNewRun(trx, run, limits, now));
  } catch (error) {
    if (error instanceof CreationRefusedError) return error;
    throw error;
  }
}

/**
 * Ends runs, one by one if they can't be ended together. Returns for each run true if it had not
 * ended before.
 */
async function endEach(
  db: Db,
  writer: Writer,
  items: readonly RunEnding[],
): Promise<readonly boolean[]> {
  const endedIds = await endAllAtOnce(db, items).catch(rethrowUnlessRefused);
  if (endedIds) return items.map(({ id }) => endedIds.has(id));
  const results: boolean[] = [];
  for (const { id, worker, outcome } of items) {
    results.push(await writer.write(trx => endRun(trx, id, outcome, worker)));
  }
  return results;
}
