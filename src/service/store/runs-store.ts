import type { Compilable } from 'kysely';
import { type Db, prepared, type Writer } from './queries.ts';
import { IDEMPOTENCY_LIFETIME_MS, runCreation } from './run-creation.ts';
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
  /** Keeps a run, its reservations and its idempotency key: all of it or, where it is refused, nothing. */
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

type EndedRun = { id: string; userId: number; credits: number; inputBytes: number };

/** The statements that end a run: its outcome, its media, and what the user gets back. */
function settlement(db: Db) {
  const end = ending(db);
  return async (db: Db, id: string, worker: string, outcome: Outcome): Promise<boolean> => {
    const { status, tokens, outputs, media } = outcome;
    const ended = await end(db, { id, worker, status, tokens, outputs: JSON.stringify(outputs) });
    const [run] = ended.rows;
    if (!run) return false;
    await giveBack(db, run, outcome);
    const rows = media.map(item => ({ ...item, userId: run.userId }));
    if (rows.length > 0) await db.insertInto('media').values(rows).execute();
    return true;
  };
}

function ending(db: Db) {
  return prepared<{
    id: string;
    worker: string;
    status: Outcome['status'];
    tokens: number;
    outputs: string;
  }>()(
    db,
    (db, run): Compilable<EndedRun> =>
      db
        .updateTable('runs')
        .set({ status: run.status, tokens: run.tokens, outputs: run.outputs, request: null, worker: null })
        .where('id', '=', run.id)
        .where('worker', '=', run.worker)
        .where('status', '=', 'running')
        .returning(['id', 'userId', 'credits', 'inputBytes']),
  );
}

/** Gives the user back what an ended run had reserved and did not use. */
export async function giveBack(
  db: Db,
  run: EndedRun,
  { status, media }: Pick<Outcome, 'status' | 'media'>,
): Promise<void> {
  const credits = status === 'failed' ? run.credits : 0;
  const space = run.inputBytes - media.reduce((sum, { size }) => sum + size, 0);
  if (credits > 0) await db.updateTable('runs').set({ credits: 0 }).where('id', '=', run.id).execute();
  if (credits === 0 && space === 0) return;
  await db
    .updateTable('users')
    .set(({ eb }) => ({
      credits: eb('credits', '+', credits),
      mediaBytes: eb('mediaBytes', '-', space),
    }))
    .where('id', '=', run.userId)
    .execute();
}
