import { sql } from 'kysely';
import { failRun } from './run-endings.ts';
import type { StoredRequest } from './run-records.ts';
import type { Db, Writer } from './writer.ts';

/** A run in a worker's hands. */
export interface QueuedRun {
  id: string;
  userId: number;
  promptVersionId: string;
  request: StoredRequest;
}

/** What a worker would take up. */
export interface Claim {
  /** Makes the worker known; called only if there is something to be taken up. */
  register(): Promise<string>;
  /** How many runs it has room for. One more is taken of every user who has none running here. */
  free: number;
  /** How many runs of each user it has running. */
  running: ReadonlyMap<number, number>;
  /** The models it has; undefined takes up any. */
  models?: readonly string[] | undefined;
}

export interface Claimed {
  runs: QueuedRun[];
  /** Whether there may be more that this worker could take up later. */
  moreLeft: boolean;
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
  return {
    /** The workers that are carrying out runs. */
    workers: async () => {
      const workers = db.selectFrom('runs').select('worker').distinct().where(inProgress);
      return (await workers.where('worker', 'is not', null).execute()).flatMap(row => row.worker ?? []);
    },
    /** Counts a death for each run of a dead worker, and queues it again or has it failed. */
    takeFrom: (deadWorker: string, abandonment: Abandonment) =>
      writer.write(db => takeFrom(db, deadWorker, abandonment)),
    /** Takes the oldest queued runs, the users in turn, and marks them as running. */
    async claim(claim: Claim): Promise<Claimed> {
      const { models } = claim;
      const rows = await heads(db, models).execute();
      const waiting = rows.flatMap(({ userId, oldest }) => (oldest === null ? [] : { userId, oldest }));
      const shares = shareOut(waiting, claim);
      if (shares.size === 0) return { runs: [], moreLeft: waiting.length > 0 };
      const worker = await claim.register();
      return await writer.write(async db => {
        const taken: QueuedRun[][] = [];
        for (const [{ userId }, count] of shares) {
          taken.push(await take(db, { worker, models, userId, count, shared }));
        }
        const exhausted = [...shares.values()].filter((count, index) => (taken[index]?.length ?? 0) < count);
        return { runs: taken.flat(), moreLeft: exhausted.length < waiting.length };
      });
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

/** A user who has queued runs, and when the oldest was created. */
interface Head {
  userId: number;
  oldest: number;
}

function queuedRuns(db: Db, models: readonly string[] | undefined) {
  const nobodys = db.selectFrom('runs').where(queued).where('worker', 'is', null);
  return models === undefined ? nobodys : nobodys.where('model', 'in', ['', ...models]);
}

/** One look into the index for each user, however long the queues are. */
function heads(db: Db, models: readonly string[] | undefined) {
  return db
    .selectFrom('users')
    .select(eb => [
      'users.id as userId',
      queuedRuns(db, models)
        .whereRef('runs.userId', '=', eb.ref('users.id'))
        .select('runs.createdAt')
        .orderBy('runs.createdAt')
        .limit(1)
        .as('oldest'),
    ]);
}

/** Who may start how many: always whoever has the fewest running, then whoever has waited the longest. */
function shareOut(heads: readonly Head[], { free, running }: Claim): Map<Head, number> {
  const shares = new Map<Head, number>();
  const turns = new Map(running);
  const turnsOf = ({ userId }: Head): number => turns.get(userId) ?? 0;
  for (let room = free; ; room -= 1) {
    const [first] = [...heads].sort((a, b) => turnsOf(a) - turnsOf(b) || a.oldest - b.oldest);
    if (!first || (room <= 0 && turnsOf(first) > 0)) return shares;
    shares.set(first, (shares.get(first) ?? 0) + 1);
    turns.set(first.userId, turnsOf(first) + 1);
  }
}

interface Share {
  readonly worker: string;
  readonly models: readonly string[] | undefined;
  readonly userId: number;
  readonly count: number;
  readonly shared: boolean;
}

async function take(db: Db, { worker, models, userId, count, shared }: Share): Promise<QueuedRun[]> {
  const rows = await queuedRuns(db, models)
    .select('id')
    .where('userId', '=', userId)
    .orderBy('createdAt')
    .limit(count)
    .$if(shared, query => query.forUpdate().skipLocked())
    .execute();
  if (rows.length === 0) return [];
  const ids = rows.map(row => row.id);
  const taken = await db
    .updateTable('runs')
    .set({ status: 'running', worker })
    .where('id', 'in', ids)
    .returning(['id', 'userId', 'promptVersionId', 'request'])
    .execute();
  taken.sort((a, b) => ids.indexOf(a.id) - ids.indexOf(b.id));
  return taken.map(run => ({ ...run, request: JSON.parse(run.request ?? 'null') as StoredRequest }));
}
