import { sql } from 'kysely';
import { failRun } from './run-endings.ts';
import type { StoredRequest } from './run-records.ts';
import type { Db, Writer } from './writer.ts';

/** What a worker would take up. */
export interface Claim {
  readonly worker: string;
  /** Without room, only a user who has none running gets a turn. */
  readonly hasRoom: boolean;
  /** How many runs of each user it has running. */
  readonly running: ReadonlyMap<number, number>;
  /** The models it has; undefined takes up any. */
  readonly models?: readonly string[] | undefined;
}

/** What becomes of runs whose worker is gone. */
export interface Abandonment {
  /** How often a process may die while running a run before it is given up. */
  readonly maxDeaths: number;
  /** What a run says that is given up. */
  readonly reason: (runId: string) => string;
}

/** Spelt out, so that the database sees that its partial indexes fit. */
const inProgress = sql<boolean>`status in ('queued', 'running')`;
const queued = sql<boolean>`status = 'queued'`;

/** The queue of `serve`: which runs wait, and which worker is carrying out the others. */
export function runQueue(db: Db, writer: Writer, { shared }: { shared: boolean }) {
  const take = async (db: Db, userId: number, worker: string, models: Claim['models']) => {
    const oldest = queuedRuns(db, models)
      .select('id')
      .where('userId', '=', userId)
      .orderBy('createdAt')
      .limit(1)
      .$if(shared, query => query.forUpdate().skipLocked());
    const run = await db
      .updateTable('runs')
      .set({ status: 'running', worker })
      .where('id', '=', oldest)
      .returning(['id', 'userId', 'promptVersionId', 'request', 'deaths'])
      .executeTakeFirst();
    return (
      run && {
        ...run,
        request: JSON.parse(run.request ?? 'null') as StoredRequest,
      }
    );
  };
  return {
    /** The workers that are carrying out runs. */
    workers: async () => {
      const workers = db.selectFrom('runs').select('worker').distinct().where(inProgress);
      return (await workers.where('worker', 'is not', null).execute()).flatMap(row => row.worker ?? []);
    },
    /** Counts a death for each run of a dead worker, and queues it again or has it failed. */
    takeFrom: (deadWorker: string, abandonment: Abandonment) =>
      writer.write(db => takeFrom(db, deadWorker, abandonment)),
    /**
     * Takes the oldest queued run of the user whose turn it is, and marks it as running. `moreLeft` is whether there may be
     * more that this worker could take up later.
     */
    async claim({ worker, hasRoom, running, models }: Claim) {
      const waiting = await queuedRuns(db, models)
        .select(({ fn }) => ['userId', fn.min('createdAt').as('oldest')])
        .groupBy('userId')
        .execute();
      const turnsOf = (userId: number): number => running.get(userId) ?? 0;
      // Whoever has the fewest running, then whoever has waited the longest.
      waiting.sort((a, b) => turnsOf(a.userId) - turnsOf(b.userId) || a.oldest - b.oldest);
      const [next] = waiting;
      const mayRun = next && (hasRoom || turnsOf(next.userId) === 0);
      const run = mayRun && (await writer.write(db => take(db, next.userId, worker, models)));
      return { run, moreLeft: waiting.length > 0 };
    },
    /** The runs that a worker is carrying out, as far as the store knows. */
    runningOf: async (worker: string) => {
      const runs = db.selectFrom('runs').select('id').where(inProgress).where('worker', '=', worker);
      return (await runs.where('status', '=', 'running').execute()).map(row => row.id);
    },
    /** Releases these runs, or all of the worker's, as if they had never been started. */
    release: async (worker: string, runs?: readonly string[]) => {
      if (runs?.length !== 0) await writer.write(db => queueAgain(db, worker, runs));
    },
  };
}

async function takeFrom(db: Db, worker: string, { maxDeaths, reason }: Abandonment): Promise<void> {
  await db
    .updateTable('runs')
    .set(({ eb }) => ({ deaths: eb('deaths', '+', 1) }))
    .where(inProgress)
    .where('worker', '=', worker)
    .where('status', '=', 'running')
    .execute();
  const lost = await db
    .selectFrom('runs')
    .select('id')
    .where(inProgress)
    .where('worker', '=', worker)
    .where('deaths', '>=', maxDeaths)
    .execute();
  for (const { id } of lost) await failRun(db, id, reason(id));
  await queueAgain(db, worker);
}

async function queueAgain(db: Db, worker: string, runs?: readonly string[]): Promise<void> {
  await db
    .updateTable('runs')
    .set({ status: 'queued', worker: null })
    .where(inProgress)
    .where('worker', '=', worker)
    .$if(runs !== undefined, query => query.where('id', 'in', runs ?? []))
    .execute();
}

function queuedRuns(db: Db, models: readonly string[] | undefined) {
  const nobodys = db.selectFrom('runs').where(queued).where('worker', 'is', null);
  return models === undefined ? nobodys : nobodys.where('model', 'in', ['', ...models]);
}
