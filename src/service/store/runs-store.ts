import { sql } from 'kysely';
import { type Db, prepared, type Writer } from './queries.ts';
import { IDEMPOTENCY_LIFETIME_MS, runCreation } from './run-creation.ts';
import { failRun, settlement } from './run-endings.ts';
import {
  type Creation,
  type NewRun,
  type Outcome,
  parseOutputs,
  RUN_COLUMNS,
  type StoredRequest,
  type StoredRun,
  type UserLimits,
} from './run-records.ts';

/** Creates, reads and ends runs; times in milliseconds. */
export interface RunsStore {
  /** Keeps a run, its reservations, its idempotency key and its end if it has one: all of it or, where it is refused, nothing. */
  create(run: NewRun, limits: UserLimits, now: number): Promise<Creation>;
  find(userId: number, id: string): Promise<StoredRun | undefined>;
  /** What a run was created from; undefined where that is not kept, or there is no such run. */
  requestOf(
    userId: number,
    id: string,
  ): Promise<{ promptVersionId: string; request: StoredRequest } | undefined>;
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
  /** Ends an unfinished run as failed, whoever has it in hand; false if it has ended already. */
  fail(id: string, message: string): Promise<boolean>;
  /** Those of these runs that have ended, of any user. */
  ended(ids: readonly string[]): Promise<StoredRun[]>;
  /** Those of these runs whose input images are to be kept. */
  withImages(ids: readonly string[]): Promise<Set<string>>;
  /** Gives the space back that images of ended runs take up, of all that were created before a time or of one user; gives the runs. */
  forgetImages(which: { before: number } | { userId: number }): Promise<string[]>;
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
    requestOf: async (userId, id) => {
      const row = await db
        .selectFrom('runs')
        .select(['promptVersionId', 'request'])
        .where('id', '=', id)
        .where('userId', '=', userId)
        .executeTakeFirst();
      return row?.request ? { ...row, request: JSON.parse(row.request) as StoredRequest } : undefined;
    },
    createdWith: (userId, key, now) => createdWith(db, userId, key, now),
    forgetKeys: async now => {
      const before = now - IDEMPOTENCY_LIFETIME_MS;
      await writer.write(db => db.deleteFrom('idempotencyKeys').where('createdAt', '<', before).execute());
    },
    settle: (id, worker, outcome) => writer.write(db => settle(db, id, worker, outcome)),
    fail: (id, message) => writer.write(db => failRun(db, id, message)),
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
    withImages: async ids => {
      if (ids.length === 0) return new Set();
      const rows = await db
        .selectFrom('runs')
        .select('id')
        .where('id', 'in', ids)
        .where('inputBytes', '>', 0)
        .execute();
      return new Set(rows.map(row => row.id));
    },
    forgetImages: which => writer.write(db => forgetImages(db, which)),
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

async function forgetImages(db: Db, which: { before: number } | { userId: number }): Promise<string[]> {
  const runs = await db
    .selectFrom('runs')
    .select(['id', 'userId', 'inputBytes'])
    .where(sql<boolean>`"inputBytes" > 0`)
    .where('status', 'in', ['succeeded', 'failed'])
    .$if('before' in which, query =>
      query.where('createdAt', '<', 'before' in which ? which.before * 1000 : 0),
    )
    .$if('userId' in which, query => query.where('userId', '=', 'userId' in which ? which.userId : 0))
    .orderBy('userId')
    .execute();
  for (const { id, userId, inputBytes } of runs) {
    const { numUpdatedRows } = await db
      .updateTable('runs')
      .set({ inputBytes: 0 })
      .where('id', '=', id)
      .where('inputBytes', '=', inputBytes)
      .executeTakeFirst();
    // Another process was faster.
    if (numUpdatedRows === 0n) continue;
    await db
      .updateTable('users')
      .set(({ eb }) => ({ mediaBytes: eb('mediaBytes', '-', inputBytes) }))
      .where('id', '=', userId)
      .execute();
  }
  return runs.map(({ id }) => id);
}
