import { type Db, prepared, type Writer } from './queries.ts';
import { IDEMPOTENCY_LIFETIME_MS, runCreation } from './run-creation.ts';
import { settlement } from './run-endings.ts';
import {
  type Creation,
  type NewRun,
  type Outcome,
  parseOutputs,
  RUN_COLUMNS,
  type StoredRun,
  type UserLimits,
} from './run-records.ts';

/** Creates, reads and ends runs; times in milliseconds. */
export interface RunsStore {
  /** Keeps a run, its reservations, its idempotency key and its end if it has one: all of it or, where it is refused, nothing. */
  create(run: NewRun, limits: UserLimits, now: number): Promise<Creation>;
  find(userId: number, id: string): Promise<StoredRun | undefined>;
  /** The run that a key has made within the last 24 hours, and the digest of the body it was sent with. */
  createdWith(
    userId: number,
    key: string,
    now: number,
  ): Promise<{ digest: string; run: StoredRun } | undefined>;
  /** Forgets keys once their 24 hours are over. */
  forgetKeys(now: number): Promise<void>;
  /** The outcome, the refund of a failed run and its media, if the run is still this worker's. */
  settle(id: string, worker: string, outcome: Outcome): Promise<boolean>;
  /** Those of these runs that have ended, of any user. */
  ended(ids: readonly string[]): Promise<StoredRun[]>;
}

export function runsStore(db: Db, writer: Writer): RunsStore {
  const byId = prepared<{ id: string; userId: number }>()(db, (db, { id, userId }) =>
    db.selectFrom('runs').select(RUN_COLUMNS).where('id', '=', id).where('userId', '=', userId),
  );
  const settle = settlement(db);
  return {
    create: runCreation(db, writer),
    find: async (userId, id) => {
      const [row] = (await byId(db, { id, userId })).rows;
      return row && parseOutputs(row);
    },
    createdWith: (userId, key, now) => createdWith(db, userId, key, now),
    forgetKeys: async now => {
      const before = now - IDEMPOTENCY_LIFETIME_MS;
      await writer.write(db => db.deleteFrom('idempotencyKeys').where('createdAt', '<', before).execute());
    },
    settle: (id, worker, outcome) => writer.write(db => settle(db, id, worker, outcome)),
    ended: async ids => {
      if (ids.length === 0) return [];
      const rows = await db
        .selectFrom('runs')
        .select(RUN_COLUMNS)
        .where('id', 'in', ids)
        .where('status', 'in', ['succeeded', 'failed'])
        .execute();
      return rows.map(parseOutputs);
    },
  };
}

async function createdWith(
  db: Db,
  userId: number,
  key: string,
  now: number,
): Promise<{ digest: string; run: StoredRun } | undefined> {
  const row = await db
    .selectFrom('idempotencyKeys')
    .innerJoin('runs', 'runs.id', 'idempotencyKeys.runId')
    .select('digest')
    .select(RUN_COLUMNS.map(column => `runs.${column}` as const))
    .where('idempotencyKeys.userId', '=', userId)
    .where('idempotencyKeys.key', '=', key)
    .where('idempotencyKeys.createdAt', '>=', now - IDEMPOTENCY_LIFETIME_MS)
    .executeTakeFirst();
  if (!row) return undefined;
  const { digest, ...run } = row;
  return { digest, run: parseOutputs(run) };
}
