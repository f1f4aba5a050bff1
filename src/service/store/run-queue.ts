import { sql } from 'kysely';
import { failRun } from './run-endings.ts';
import type { StoredRequest } from './run-records.ts';
import type { Db, Writer } from './writer.ts';

/** What a worker would take up. */
export interface Claim {
  readonly worker: string;
  /** How many more runs it has room for; without room, only users who have none running get a turn. */
  readonly room: number;
  /** How many runs of each user it has running. */
  readonly running: ReadonlyMap<number, number>;
  /** The models it has; undefined takes up any. */
  readonly models?: readonly string[] | undefined;
  /** False to leave runs with pictures in the queue; default true. */
  readonly withPictures?: boolean | undefined;
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
  const take = async (db: Db, turns: ReadonlyMap<number, number>, claim: Claim) => {
    const oldestOf = ([userId, count]: readonly [number, number]) =>
      queuedRuns(db, claim)
        .select('id')
        .where('userId', '=', userId)
        .orderBy('createdAt')
        .limit(count)
        .$if(shared, query => query.forUpdate().skipLocked());
    const [first, ...others] = [...turns].map(turn =>
      db.selectFrom(oldestOf(turn).as('oldest')).select('id'),
    );
    if (!first) return [];
    // A subselect might be carried out again for each row, with other results; this is not.
    const runs = await db
      .with('picked', () => others.reduce((all, one) => all.unionAll(one), first))
      .updateTable('runs')
      .set({ status: 'running', worker: claim.worker })
      .where('id', 'in', ({ selectFrom }) => selectFrom('picked').select('picked.id'))
      .where(queued)
      .returning(['id', 'userId', 'promptVersionId', 'request', 'deaths', 'model', 'createdAt'])
      .execute();
    runs.sort((a, b) => a.createdAt - b.createdAt);
    return runs.map(run => ({
      ...run,
      request: JSON.parse(run.request ?? 'null') as StoredRequest,
    }));
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
     * Takes as many queued runs as there is room for, of each user the oldest, and marks them as running. `moreLeft` is
     * whether there may be more that this worker could take up later.
     */
    async claim(claim: Claim) {
      const waiting = await queuedRuns(db, claim)
        .select(({ fn }) => ['userId', fn.min('createdAt').as('oldest'), fn.countAll<number>().as('count')])
        .groupBy('userId')
        .execute();
      const turns = turnsOf(waiting, claim);
      const runs = turns.size === 0 ? [] : await writer.write(db => take(db, turns, claim));
      const left = waiting.reduce((sum, { count }) => sum + count, 0) - runs.length;
      return { runs, moreLeft: left > 0 };
    },
    /** How many runs are queued that a worker with these models could take up. */
    queued: async (models: Claim['models']) => {
      const counted = queuedRuns(db, { models }).select(({ fn }) => fn.countAll<number>().as('count'));
      return (await counted.executeTakeFirstOrThrow()).count;
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

interface Waiting {
  readonly userId: number;
  readonly oldest: number;
  readonly count: number;
}

/** How many runs each user is given: whoever has the fewest running comes first, then whoever has waited the longest. */
function turnsOf(waiting: readonly Waiting[], { room, running }: Claim): ReadonlyMap<number, number> {
  const turns = new Map<number, number>();
  const runningOf = (userId: number): number => (running.get(userId) ?? 0) + (turns.get(userId) ?? 0);
  for (let given = 0; ; given += 1) {
    const [next] = waiting
      .filter(({ userId, count }) => count > (turns.get(userId) ?? 0))
      .sort((a, b) => runningOf(a.userId) - runningOf(b.userId) || a.oldest - b.oldest);
    if (!next || (given >= room && runningOf(next.userId) > 0)) return turns;
    turns.set(next.userId, (turns.get(next.userId) ?? 0) + 1);
  }
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

function queuedRuns(db: Db, { models, withPictures = true }: Pick<Claim, 'models' | 'withPictures'>) {
  return db
    .selectFrom('runs')
    .where(queued)
    .where('worker', 'is', null)
    .$if(models !== undefined, query => query.where('model', 'in', ['', ...(models ?? [])]))
    .$if(!withPictures, query => query.where('inputBytes', '=', 0));
}
