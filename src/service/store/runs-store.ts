import { sql } from 'kysely';
import { giveSpaceBack } from './media-store.ts';
import { createRun, IDEMPOTENCY_LIFETIME_MS } from './run-creation.ts';
import { endRun, failRun } from './run-endings.ts';
import {
  type NewRun,
  type Outcome,
  parseOutputs,
  RUN_COLUMNS,
  type StoredRequest,
  type StoredRun,
  type UserLimits,
} from './run-records.ts';
import type { Db, Writer } from './writer.ts';

/** Creates, reads and ends runs; times in milliseconds. */
export function runsStore(db: Db, writer: Writer) {
  return {
    /** Keeps a run, its reservations and its idempotency key, or nothing where it is refused; throws CreationRefused. */
    create: (run: NewRun, limits: UserLimits, now: number) =>
      writer.write(db => createRun(db, run, limits, now)),
    find: async (userId: number, id: string): Promise<StoredRun | undefined> => {
      const row = await ofUser(db, userId, id).select(RUN_COLUMNS).executeTakeFirst();
      return row && parseOutputs(row);
    },
    /** What a run was created from; undefined where that is not kept, or there is no such run. */
    requestOf: async (userId: number, id: string) => {
      const row = await ofUser(db, userId, id).select(['promptVersionId', 'request']).executeTakeFirst();
      return row?.request ? { ...row, request: JSON.parse(row.request) as StoredRequest } : undefined;
    },
    /** The run that a key has made within the last 24 hours, and the digest of the body it was sent with. */
    createdWith: (userId: number, key: string, now: number) => createdWith(db, userId, key, now),
    /** Forgets keys once their 24 hours are over. */
    forgetKeys: async (now: number) => {
      const before = now - IDEMPOTENCY_LIFETIME_MS;
      await writer.write(db => db.deleteFrom('idempotencyKeys').where('createdAt', '<', before).execute());
    },
    /** The outcome, the refund of a failed run and its media, if the run is still this worker's. */
    settle: (id: string, worker: string, outcome: Outcome) =>
      writer.write(db => endRun(db, id, outcome, worker)),
    /** Ends an unfinished run as failed, whoever has it in hand; false if it has ended already. */
    fail: (id: string, message: string) => writer.write(db => failRun(db, id, message)),
    /** Those of these runs that have ended, of any user. */
    ended: async (ids: readonly string[]) => {
      if (ids.length === 0) return [];
      const rows = await db
        .selectFrom('runs')
        .select(RUN_COLUMNS)
        .where('id', 'in', ids)
        .where('status', 'in', ['succeeded', 'failed'])
        .execute();
      return rows.map(parseOutputs);
    },
    /** Those of these runs whose input images are to be kept. */
    withImages: async (ids: readonly string[]) => {
      if (ids.length === 0) return new Set();
      const runs = db.selectFrom('runs').select('id').where('id', 'in', ids).where('inputBytes', '>', 0);
      return new Set((await runs.execute()).map(row => row.id));
    },
    /** Gives the space back that images of ended runs take up, of all that were created before a time or of one user; gives the runs. */
    forgetImages: (which: { before: number } | { userId: number }) =>
      writer.write(db => forgetImages(db, which)),
  };
}

function ofUser(db: Db, userId: number, id: string) {
  return db.selectFrom('runs').where('id', '=', id).where('userId', '=', userId);
}

async function createdWith(db: Db, userId: number, key: string, now: number) {
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
    await giveSpaceBack(db, userId, inputBytes);
  }
  return runs.map(({ id }) => id);
}
