import { sql } from 'kysely';
import { type Db, prepared, type Writer } from './queries.ts';
import { giveBack } from './run-endings.ts';
import type { StoredRequest } from './run-records.ts';

/** A run in a worker's hands. */
export interface QueuedRun {
  id: string;
  userId: number;
  promptVersionId: string;
  request: StoredRequest;
}

/** What a worker would take up. */
export interface Claim {
  /** The worker as far as it is known to be alive already. */
  worker: string | undefined;
  /** Makes it known; called only if there is something to be taken up. */
  register(): Promise<string>;
  /** How many runs it has room for. One more is taken of every user who has none running here. */
  free: number;
  /** How many runs of each user it has running. */
  running: ReadonlyMap<number, number>;
  /** Whether it takes up what no living process has in hand; on a shared store nothing else is queued. */
  orphans: boolean;
  /** The models it has; undefined takes up any. */
  models?: readonly string[] | undefined;
}

export interface Claimed {
  runs: QueuedRun[];
  /** Whether there may be more that this worker could take up later. */
  moreLeft: boolean;
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
  /** Takes the oldest queued runs, the users in turn, and marks them as running. */
  claim(claim: Claim): Promise<Claimed>;
  /** The runs that a worker is carrying out, as far as the store knows. */
  runningOf(worker: string): Promise<string[]>;
  /** Releases these runs, or everything unfinished, as if it had never been started. */
  release(worker: string, runs?: readonly string[]): Promise<void>;
  /** Which of these runs have not ended. */
  unfinished(ids: readonly string[]): Promise<Set<string>>;
}

/** Spelt out, so that the database sees that its partial indexes fit. */
const inProgress = sql<boolean>`status in ('queued', 'running')`;
const queued = sql<boolean>`status = 'queued'`;

export function runQueue(db: Db, writer: Writer, { shared }: { shared: boolean }): RunQueue {
  const readHeads = headsQuery(db);
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
    async claim(claim) {
      const heads = await readHeads(db, claim, shared);
      const shares = shareOut(heads, claim);
      if (shares.size === 0) return { runs: [], moreLeft: heads.length > 0 };
      const worker = await claim.register();
      return await writer.write(async db => {
        const taken: QueuedRun[][] = [];
        for (const [head, count] of shares) {
          taken.push(await take(db, { ...claim, worker }, head, count, shared));
        }
        const exhausted = [...shares.values()].filter((count, index) => (taken[index]?.length ?? 0) < count);
        return { runs: taken.flat(), moreLeft: exhausted.length < heads.length };
      });
    },
    runningOf: async worker => {
      const rows = await db
        .selectFrom('runs')
        .select('id')
        .where(inProgress)
        .where('worker', '=', worker)
        .where('status', '=', 'running')
        .execute();
      return rows.map(row => row.id);
    },
    release: async (worker, runs) => {
      if (runs?.length !== 0) await writer.write(db => queueAgain(db, worker, runs));
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
    .returning(['id', 'deaths', 'userId', 'credits', 'inputBytes'])
    .execute();
  const failed = died.filter(run => run.deaths >= MAX_DEATHS);
  const outputs = JSON.stringify([{ type: 'error', data: DIED_TWICE }]);
  for (const run of failed) {
    const ended = { status: 'failed', outputs, request: null, worker: null } as const;
    await db.updateTable('runs').set(ended).where('id', '=', run.id).execute();
    await giveBack(db, run, { status: 'failed', media: [] });
  }
  await queueAgain(db, worker);
  return failed.map(run => run.id);
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

/** The oldest queued run of a user: of those that a worker has in hand, or that none has. */
interface Head {
  userId: number;
  worker: string | null;
  oldest: number;
}

function headsQuery(db: Db) {
  const own = prepared<{ worker: string }>()(db, (db, { worker }) =>
    heads(db, query => query.where('worker', '=', worker)),
  );
  const nobodys = prepared<object>()(db, db => heads(db, query => query.where('worker', 'is', null)));
  return async (db: Db, { worker, orphans, models }: Claim, shared: boolean): Promise<Head[]> => {
    const mine = shared || worker === undefined ? [] : (await own(db, { worker })).rows;
    const free = orphans ? await (models ? nobodysOf(db, models) : nobodys(db, {})) : { rows: [] };
    const found = [
      ...mine.map(row => ({ ...row, worker: worker ?? null })),
      ...free.rows.map(row => ({ ...row, worker: null })),
    ];
    return found.flatMap(({ oldest, ...head }) => (oldest === null ? [] : { ...head, oldest }));
  };
}

async function nobodysOf(db: Db, models: readonly string[]) {
  return { rows: await heads(db, query => ofModels(query.where('worker', 'is', null), models)).execute() };
}

function queuedRuns(db: Db) {
  return db.selectFrom('runs').where(queued);
}
type QueuedRuns = ReturnType<typeof queuedRuns>;

/** One look into the index for each user, however long the queues are. */
function heads(db: Db, narrow: (query: QueuedRuns) => QueuedRuns) {
  return db
    .selectFrom('users')
    .select(eb => [
      'users.id as userId',
      narrow(queuedRuns(db))
        .whereRef('runs.userId', '=', eb.ref('users.id'))
        .select('runs.createdAt')
        .orderBy('runs.createdAt')
        .limit(1)
        .as('oldest'),
    ]);
}

function ofModels(query: QueuedRuns, models: readonly string[] | undefined): QueuedRuns {
  return models === undefined ? query : query.where('model', 'in', ['', ...models]);
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

async function take(
  db: Db,
  { worker, models }: Claim & { worker: string },
  head: Head,
  count: number,
  shared: boolean,
): Promise<QueuedRun[]> {
  const rows = await ofModels(queuedRuns(db), models)
    .select('id')
    .where('userId', '=', head.userId)
    .where('worker', head.worker === null ? 'is' : '=', head.worker)
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
