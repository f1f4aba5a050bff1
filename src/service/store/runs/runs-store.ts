import { sql } from 'kysely';
import { releaseSpace } from '../media-store.ts';
import type { Db, Writer } from '../writer.ts';
import { IDEMPOTENCY_LIFETIME_MS, writeNewRun } from './run-creation.ts';
import { endRun, failRun } from './run-endings.ts';
import { type PageLimits, type RunPageQuery, readPageIds, readRuns } from './run-pages.ts';
import {
  type NewRun,
  parseStoredRun,
  RUN_COLUMNS,
  type RunOutcome,
  type RunWrites,
  type StoredRequest,
  type StoredRun,
  type UserLimits,
} from './run-records.ts';
import { selectRunsWithIds, selectUserRun } from './run-selections.ts';
import { readRunsUsage } from './run-usage.ts';

/** Creates, reads and ends runs. Times are in milliseconds unless noted. */
export class RunsStore {
  readonly #db: Db;
  readonly #writer: Writer;
  readonly #runWrites: Pick<RunWrites, 'create' | 'end'> | undefined;

  constructor(db: Db, writer: Writer, runWrites?: Pick<RunWrites, 'create' | 'end'>) {
    this.#db = db;
    this.#writer = writer;
    this.#runWrites = runWrites;
  }

  /**
   * Writes a run with its reservations and idempotency key, or nothing.
   *
   * @throws {CreationRefused}
   */
  create(run: NewRun, limits: UserLimits, now: number) {
    return (
      this.#runWrites?.create(run, limits, now) ??
      this.#writer.write(trx => writeNewRun(trx, run, limits, now))
    );
  }

  async find(userId: number, id: string): Promise<StoredRun | undefined> {
    const row = await selectUserRun(this.#db, userId, id).select(RUN_COLUMNS).executeTakeFirst();
    return row && parseStoredRun(row);
  }

  /** Returns the request of a run; undefined if it is not kept, or the run doesn't exist. */
  async findRequest(userId: number, id: string) {
    const row = await selectUserRun(this.#db, userId, id)
      .select(['promptVersionId', 'request'])
      .executeTakeFirst();
    return row?.request ? { ...row, request: JSON.parse(row.request) as StoredRequest } : undefined;
  }

  /** Returns the run that a key created in the last 24 hours, and the digest of the body. */
  findByKey(userId: number, key: string, now: number) {
    return findCreatedRun(this.#db, userId, key, now);
  }

  /** Deletes idempotency keys older than 24 hours. */
  async deleteExpiredKeys(now: number) {
    const before = now - IDEMPOTENCY_LIFETIME_MS;
    await this.#writer.write(trx =>
      trx.deleteFrom('idempotencyKeys').where('createdAt', '<', before).execute(),
    );
  }

  /** See `readPageIds`. */
  readPageIds(filter: RunPageQuery) {
    return readPageIds(this.#db, filter);
  }

  /** See `readRuns`. */
  readRuns(ids: readonly string[], limits: PageLimits) {
    return readRuns(this.#db, ids, limits);
  }

  readUsage(userId: number, ids: readonly string[]) {
    return readRunsUsage(this.#db, userId, ids);
  }

  /** Writes the outcome, media and refund of a run, if this worker still holds it. */
  settle({ id, userId }: Pick<NewRun, 'id' | 'userId'>, worker: string, outcome: RunOutcome) {
    return (
      this.#runWrites?.end(id, userId, worker, outcome) ??
      this.#writer.write(trx => endRun(trx, id, outcome, worker))
    );
  }

  /**
   * Ends an unfinished run as failed, whichever worker holds it; returns false if it has already
   * ended.
   */
  fail(id: string, message: string, endedAt?: number) {
    return this.#writer.write(trx => failRun(trx, id, message, endedAt));
  }

  /** Returns those of these runs that have ended, of any user. */
  async findEnded(ids: readonly string[]) {
    if (ids.length === 0) return [];
    const rows = await selectRunsWithIds(this.#db, ids)
      .where('status', 'in', ['succeeded', 'failed'])
      .execute();
    return rows.map(parseStoredRun);
  }

  /** Returns those of these runs whose input images must be kept. */
  filterWithImages(ids: readonly string[]) {
    return readRunIds(selectRunsWithIds(this.#db, ids).where('inputBytes', '>', 0));
  }

  /** Returns those of these runs whose request is kept. */
  filterWithRequests(ids: readonly string[]) {
    return readRunIds(selectRunsWithIds(this.#db, ids).where('request', 'is not', null));
  }

  /**
   * Releases the space of the input images of ended runs, of one user or created before a time.
   * Returns the ids of the runs, even of those that another process releases at the same time.
   */
  releaseImages(selection: { before: number } | { userId: number }) {
    return this.#writer.write(trx => releaseImages(trx, selection));
  }
}

async function findCreatedRun(db: Db, userId: number, key: string, now: number) {
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
  return { digest, run: parseStoredRun(run) };
}

async function readRunIds(runs: ReturnType<typeof selectRunsWithIds>): Promise<Set<string>> {
  const rows = await runs.clearSelect().select('id').execute();
  return new Set(rows.map(row => row.id));
}

async function releaseImages(
  db: Db,
  selection: { before: number } | { userId: number },
): Promise<string[]> {
  const runsWithImages = db
    .selectFrom('runs')
    .select(['id', 'userId', 'inputBytes'])
    // Written out, because a bound 0 would not match the condition of the partial index.
    .where(sql<boolean>`"inputBytes" > 0`)
    .where('status', 'in', ['succeeded', 'failed'])
    .orderBy('userId');

  // Runs have their time of creation in microseconds.
  const runs = await ('before' in selection
    ? runsWithImages.where('createdAt', '<', selection.before * 1000)
    : runsWithImages.where('userId', '=', selection.userId)
  ).execute();

  for (const { id, userId, inputBytes } of runs) {
    const { numUpdatedRows } = await db
      .updateTable('runs')
      .set({ inputBytes: 0 })
      .where('id', '=', id)
      .where('inputBytes', '=', inputBytes)
      .executeTakeFirst();
    // Otherwise another process has released it.
    if (numUpdatedRows > 0n) await releaseSpace(db, userId, inputBytes);
  }

  return runs.map(({ id }) => id);
}
