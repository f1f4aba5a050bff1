import { sql } from 'kysely';
import { countUp } from '../../../utils/count-up.ts';
import type { Db, Writer } from '../writer.ts';
import { failRun } from './run-endings.ts';
import type { QueuedRun, StoredRequest } from './run-records.ts';

/** A worker's claim on queued runs. */
export interface QueueClaim {
  readonly worker: string;
  /** The number of runs to claim; users with no running run get one even beyond it. */
  readonly capacity: number;
  /** The number of runs that the worker is running, by user. */
  readonly runningCounts: ReadonlyMap<number, number>;
  /** The names of the models that it has; undefined for all. */
  readonly models?: readonly string[] | undefined;
  /** False to leave runs with images in the queue; default true. */
  readonly allowsImages?: boolean | undefined;
}

/** The rules for runs of a dead worker. */
export interface DeadWorkerRules {
  /** Number of worker deaths after which a run fails. */
  readonly maxDeaths: number;
  /** Returns the error message of the failed run. */
  readonly explainFailure: (runId: string) => string;
  /**
   * Returns the same for the run of a program, which fails at the first death; default
   * `explainFailure`.
   */
  readonly explainProgramFailure?: (runId: string) => string;
}

/** Literal SQL, so that the database recognises its partial indexes. */
const isUnfinished = sql<boolean>`status in ('queued', 'running')`;
const isQueued = sql<boolean>`status = 'queued'`;

/** Queued runs, and running ones with their workers. */
export class RunQueue {
  readonly #db: Db;
  readonly #writer: Writer;
  readonly #isShared: boolean;

  constructor(db: Db, writer: Writer, { isShared }: { isShared: boolean }) {
    this.#db = db;
    this.#writer = writer;
    this.#isShared = isShared;
  }

  /** Returns the workers that hold unfinished runs. */
  async findWorkersWithRuns(): Promise<string[]> {
    const rows = await this.#db
      .selectFrom('runs')
      .select('worker')
      .distinct()
      .where(isUnfinished)
      .where('worker', 'is not', null)
      .execute();
    return rows.flatMap(row => row.worker ?? []);
  }

  /**
   * Counts a death for each running run of a dead worker, then queues its runs again or fails
   * them.
   */
  settleDeadWorker(worker: string, rules: DeadWorkerRules): Promise<void> {
    return this.#writer.write(trx => settleDeadWorker(trx, worker, rules));
  }

  /**
   * Claims as many queued runs as the worker has capacity for, each user's oldest first, and
   * marks them as running. Beyond its capacity, each user with no running run still gets one.
   * `hasMore` is true if there may be more for this worker.
   */
  async claim(claim: QueueClaim): Promise<{ runs: QueuedRun[]; hasMore: boolean }> {
    const userQueues = await selectClaimable(this.#db, claim)
      .select(({ fn }) => [
        'userId',
        fn.min('createdAt').as('oldest'),
        fn.countAll<number>().as('count'),
      ])
      .groupBy('userId')
      .execute();
    const turns = allotTurns(userQueues, claim);
    if (turns.size === 0) return { runs: [], hasMore: userQueues.length > 0 };

    const runs = await this.#writer.write(trx =>
      claimOldest(trx, turns, claim, { isShared: this.#isShared }),
    );
    const queuedCount = userQueues.reduce((sum, { count }) => sum + count, 0);
    return { runs, hasMore: queuedCount > runs.length };
  }

  /** Returns the number of queued runs that a worker with these models could claim. */
  async countClaimable(models: QueueClaim['models']): Promise<number> {
    const { count } = await selectClaimable(this.#db, { models })
      .select(({ fn }) => fn.countAll<number>().as('count'))
      .executeTakeFirstOrThrow();
    return count;
  }

  /** Returns the ids of a worker's running runs, according to the store. */
  async findRunningIds(worker: string): Promise<string[]> {
    const runs = await this.#db
      .selectFrom('runs')
      .select('id')
      .where(isUnfinished)
      .where('worker', '=', worker)
      .where('status', '=', 'running')
      .execute();
    return runs.map(run => run.id);
  }

  /** Queues these runs of the worker again, or all of them, without counting a death. */
  async release(worker: string, runIds?: readonly string[]): Promise<void> {
    if (runIds?.length !== 0) await this.#writer.write(trx => queueAgain(trx, worker, runIds));
  }
}

interface UserQueue {
  readonly userId: number;
  readonly oldest: number;
  readonly count: number;
}

/**
 * Returns the number of runs to claim for each user. The user with the fewest running comes first,
 * then the longest waiting.
 */
function allotTurns(
  userQueues: readonly UserQueue[],
  { capacity, runningCounts }: QueueClaim,
): ReadonlyMap<number, number> {
  const turnCounts = new Map<number, number>();
  const countRunning = (userId: number): number =>
    (runningCounts.get(userId) ?? 0) + (turnCounts.get(userId) ?? 0);
  for (let claimed = 0; ; claimed += 1) {
    const [next] = userQueues
      .filter(({ userId, count }) => count > (turnCounts.get(userId) ?? 0))
      .sort((a, b) => countRunning(a.userId) - countRunning(b.userId) || a.oldest - b.oldest);
    if (!next || (claimed >= capacity && countRunning(next.userId) > 0)) return turnCounts;
    countUp(turnCounts, next.userId);
  }
}

/** Claims the given number of each user's oldest queued runs. */
async function claimOldest(
  trx: Db,
  turns: ReadonlyMap<number, number>,
  claim: QueueClaim,
  { isShared }: { readonly isShared: boolean },
) {
  const selectOldest = ([userId, count]: readonly [number, number]) =>
    selectClaimable(trx, claim)
      .select('id')
      .where('userId', '=', userId)
      .orderBy('createdAt')
      .limit(count)
      .$if(isShared, query => query.forUpdate().skipLocked());

  const [first, ...others] = [...turns].map(turn =>
    trx.selectFrom(selectOldest(turn).as('oldest')).select('id'),
  );
  if (!first) return [];

  // A CTE is evaluated once; a subselect may be evaluated for each row, with different results.
  const runs = await trx
    .with('picked', () => others.reduce((all, next) => all.unionAll(next), first))
    .updateTable('runs')
    .set({ status: 'running', worker: claim.worker })
    .where('id', 'in', ({ selectFrom }) => selectFrom('picked').select('picked.id'))
    .where(isQueued)
    .returning(['id', 'userId', 'promptVersionId', 'request', 'deaths', 'model', 'createdAt'])
    .execute();
  runs.sort((a, b) => a.createdAt - b.createdAt);
  return runs.map(run => ({ ...run, request: JSON.parse(run.request ?? 'null') as StoredRequest }));
}

async function settleDeadWorker(
  trx: Db,
  worker: string,
  { maxDeaths, explainFailure, explainProgramFailure = explainFailure }: DeadWorkerRules,
): Promise<void> {
  await trx
    .updateTable('runs')
    .set(({ eb }) => ({ deaths: eb('deaths', '+', 1) }))
    .where(isUnfinished)
    .where('worker', '=', worker)
    .where('status', '=', 'running')
    .execute();

  const interruptedRuns = await trx
    .selectFrom('runs')
    .select(['id', 'deaths', 'request'])
    .where(isUnfinished)
    .where('worker', '=', worker)
    .where('deaths', '>=', 1)
    .execute();

  for (const { id, deaths, request } of interruptedRuns) {
    const { isProgram = false } = (JSON.parse(request ?? '{}') ?? {}) as Partial<StoredRequest>;
    // Fails now: in the queue, the run could wait forever if no instance offers its model any more.
    if (isProgram || deaths >= maxDeaths) {
      await failRun(trx, id, (isProgram ? explainProgramFailure : explainFailure)(id));
    }
  }

  await queueAgain(trx, worker);
}

async function queueAgain(trx: Db, worker: string, runIds?: readonly string[]): Promise<void> {
  await trx
    .updateTable('runs')
    .set({ status: 'queued', worker: null })
    .where(isUnfinished)
    .where('worker', '=', worker)
    .$if(runIds !== undefined, query => query.where('id', 'in', runIds ?? []))
    .execute();
}

/** Selects the queued runs that a worker could claim. */
function selectClaimable(
  db: Db,
  { models, allowsImages = true }: Pick<QueueClaim, 'models' | 'allowsImages'>,
) {
  return db
    .selectFrom('runs')
    .where(isQueued)
    .where('worker', 'is', null)
    .$if(models !== undefined, query => query.where('model', 'in', ['', ...(models ?? [])]))
    .$if(!allowsImages, query => query.where('inputBytes', '=', 0));
}
