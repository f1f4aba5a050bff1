import { sql } from 'kysely';
import { type Db, prepared } from './prepared.ts';
import type { StoredRequest } from './run-records.ts';
import { refund } from './runs-store.ts';
import type { Writer } from './sqlite/writer.ts';

/** A run in a worker's hands. */
export interface QueuedRun {
  id: string;
  promptVersionId: string;
  request: StoredRequest;
}

/** How often a process may die while running a run before it is given up. */
const MAX_DEATHS = 2;

/** What a run says that no process survived. */
const DIED_TWICE = 'the service stopped unexpectedly twice while this run was running';

/** Who has which unfinished run in hand. */
export interface RunQueue {
  /** The workers that have unfinished runs in hand. */
  workers(): Promise<string[]>;
  /** Queues a dead worker's runs again; what it was running counts a death, and fails at the second. Gives what failed. */
  takeFrom(deadWorker: string): Promise<string[]>;
  /** Whether there are unfinished runs that nobody has in hand. */
  hasOrphans(): Promise<boolean>;
  /** Takes the oldest runs nobody has in hand. */
  claim(worker: string, count: number): Promise<QueuedRun[]>;
  /** Marks a run as running; false if it is no longer this worker's. */
  start(id: string, worker: string): Promise<boolean>;
  /** Lets go of everything unfinished, as if it had never been started. */
  release(worker: string): Promise<void>;
  /** Which of these runs have not ended. */
  unfinished(ids: readonly string[]): Promise<Set<string>>;
}

/** Spelt out, so that SQLite sees that the partial index fits. */
const inProgress = sql<boolean>`status in ('queued', 'running')`;

export function runQueue(db: Db, writer: Writer): RunQueue {
  const start = prepared<{ id: string; worker: string }>()(db, (db, { id, worker }) =>
    db.updateTable('runs').set({ status: 'running' }).where('id', '=', id).where('worker', '=', worker),
  );
  return {
    workers: async () => {
      const rows = await db
        .selectFrom('runs')
        .select('worker')
        .distinct()
        .where(inProgress)
        .where('worker', 'is not', null)
        .execute();
      return rows.flatMap(row => row.worker ?? []);
    },
    takeFrom: deadWorker => writer.write(db => takeFrom(db, deadWorker)),
    hasOrphans: async () => (await orphans(db).select('id').limit(1).execute()).length > 0,
    claim: (worker, count) => writer.write(db => claim(db, worker, count)),
    start: (id, worker) => writer.write(async db => (await start(db, { id, worker })).numAffectedRows === 1n),
    release: async worker => {
      await writer.write(db => queueAgain(db, worker));
    },
    unfinished: async ids => {
      if (ids.length === 0) return new Set();
      const rows = await db
        .selectFrom('runs')
        .select('id')
        .where('id', 'in', ids)
        .where(inProgress)
        .execute();
      return new Set(rows.map(row => row.id));
    },
  };
}

async function takeFrom(db: Db, worker: string): Promise<string[]> {
  const died = await db
    .updateTable('runs')
    .set(({ eb }) => ({ deaths: eb('deaths', '+', 1) }))
    .where(inProgress)
    .where('worker', '=', worker)
    .where('status', '=', 'running')
    .returning(['id', 'deaths', 'userId', 'credits'])
    .execute();
  const failed = died.filter(run => run.deaths >= MAX_DEATHS);
  for (const run of failed) await giveUp(db, run);
  await queueAgain(db, worker);
  return failed.map(run => run.id);
}

async function giveUp(db: Db, run: { id: string; userId: number; credits: number }): Promise<void> {
  const outputs = JSON.stringify([{ type: 'error', data: DIED_TWICE }]);
  await refund(db, run);
  await db
    .updateTable('runs')
    .set({ status: 'failed', outputs, request: null, worker: null })
    .where('id', '=', run.id)
    .execute();
}

async function queueAgain(db: Db, worker: string): Promise<void> {
  await db
    .updateTable('runs')
    .set({ status: 'queued', worker: null })
    .where(inProgress)
    .where('worker', '=', worker)
    .execute();
}

function orphans(db: Db) {
  return db.selectFrom('runs').where(inProgress).where('worker', 'is', null);
}

async function claim(db: Db, worker: string, count: number): Promise<QueuedRun[]> {
  const oldest = await orphans(db)
    .select(['id', 'promptVersionId', 'request'])
    .orderBy('createdAt')
    .limit(count)
    .execute();
  if (oldest.length === 0) return [];
  const ids = oldest.map(run => run.id);
  await db.updateTable('runs').set({ worker }).where('id', 'in', ids).execute();
  return oldest.map(run => ({ ...run, request: JSON.parse(run.request ?? 'null') as StoredRequest }));
}
