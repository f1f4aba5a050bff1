import { sql } from 'kysely';
import type { RunStatus } from '../../wire/index.ts';
import { releaseSpace } from './media-store.ts';
import { IDEMPOTENCY_LIFETIME_MS, writeNewRun } from './run-creation.ts';
import { endRun, failRun } from './run-endings.ts';
import {
  type NewRun,
  RUN_COLUMNS,
  type RunOutcome,
  type RunWrites,
  type StoredRequest,
  type StoredRun,
  storedRun,
  type UserLimits,
} from './run-records.ts';
import type { Db, Writer } from './writer.ts';

/** Filter of a user's runs. Times are in microseconds; `from` is inclusive, `until` exclusive. */
interface RunListFilter {
  userId: number;
  status?: RunStatus | undefined;
  from?: number | undefined;
  until?: number | undefined;
  /** A run's id: only runs created before it, the nearest first. */
  startingAfter?: string | undefined;
  /** A run's id: only runs created after it, the nearest to it. */
  endingBefore?: string | undefined;
  limit: number;
}

/** A run with its usage. `promptModel` is the model that the prompt names. */
export type UsedRun = ReturnType<typeof withUsage>;

/** Creates, reads and ends runs. Times are in milliseconds unless noted. */
export function runsStore(db: Db, writer: Writer, runWrites?: Pick<RunWrites, 'create' | 'end'>) {
  return {
    /** Writes a run with its reservations and idempotency key, or nothing. @throws {CreationRefused} */
    create: (run: NewRun, limits: UserLimits, now: number) =>
      runWrites?.create(run, limits, now) ?? writer.write(db => writeNewRun(db, run, limits, now)),
    find: async (userId: number, id: string): Promise<StoredRun | undefined> => {
      const row = await ofUser(db, userId, id).select(RUN_COLUMNS).executeTakeFirst();
      return row && storedRun(row);
    },
    /** Returns the request of a run; undefined if it is not kept, or the run doesn't exist. */
    requestOf: async (userId: number, id: string) => {
      const row = await ofUser(db, userId, id).select(['promptVersionId', 'request']).executeTakeFirst();
      return row?.request ? { ...row, request: JSON.parse(row.request) as StoredRequest } : undefined;
    },
    /** Returns the run that a key created in the last 24 hours, and the digest of the body. */
    createdWith: (userId: number, key: string, now: number) => createdWith(db, userId, key, now),
    /** Deletes idempotency keys older than 24 hours. */
    forgetKeys: async (now: number) => {
      const before = now - IDEMPOTENCY_LIFETIME_MS;
      await writer.write(db => db.deleteFrom('idempotencyKeys').where('createdAt', '<', before).execute());
    },
    /** Returns the ids of a page, nearest to the cursor first; undefined if the cursor is not a run of the user. */
    page: (filter: RunListFilter) => readPage(db, filter),
    /**
     * Returns these runs in order: the first, and as many more as fit into `maxBytes` of outputs.
     *
     * @param onBytes receives the size of the outputs before they are read, and may throw
     */
    read: async (ids: readonly string[], maxBytes: number, onBytes: (bytes: number) => void) => {
      const { fitting, bytes } = await fittingRuns(db, ids, maxBytes);
      onBytes(bytes);
      const runs = new Map((await runsOf(db, fitting).execute()).map(row => [row.id, storedRun(row)]));
      return fitting.flatMap(id => runs.get(id) ?? []);
    },
    /** Returns the usage of those of these runs that belong to the user. */
    usage: async (userId: number, ids: readonly string[]) =>
      (await selectUsage(db, userId, ids)).map(withUsage),
    /** Writes the outcome, media and refund of a run, if this worker still holds it. */
    settle: ({ id, userId }: Pick<NewRun, 'id' | 'userId'>, worker: string, outcome: RunOutcome) =>
      runWrites?.end(id, userId, worker, outcome) ?? writer.write(db => endRun(db, id, outcome, worker)),
    /** Ends an unfinished run as failed, whichever worker holds it; returns false if it has already ended. */
    fail: (id: string, message: string, endedAt?: number) =>
      writer.write(db => failRun(db, id, message, endedAt)),
    /** Returns those of these runs that have ended, of any user. */
    ended: async (ids: readonly string[]) => {
      if (ids.length === 0) return [];
      const rows = await runsOf(db, ids).where('status', 'in', ['succeeded', 'failed']).execute();
      return rows.map(storedRun);
    },
    /** Returns those of these runs whose input images must be kept. */
    withImages: async (ids: readonly string[]) => {
      const rows = await runsOf(db, ids).where('inputBytes', '>', 0).clearSelect().select('id').execute();
      return new Set(rows.map(row => row.id));
    },
    /** Returns those of these runs whose request is kept. */
    withRequests: async (ids: readonly string[]) => {
      const rows = await runsOf(db, ids)
        .where('request', 'is not', null)
        .clearSelect()
        .select('id')
        .execute();
      return new Set(rows.map(row => row.id));
    },
    /** Releases the space of input images of ended runs, of one user or from before a time; returns the runs. */
    forgetImages: (which: { before: number } | { userId: number }) =>
      writer.write(db => forgetImages(db, which)),
  };
}

function ofUser(db: Db, userId: number, id: string) {
  return db.selectFrom('runs').where('id', '=', id).where('userId', '=', userId);
}

function runsOf(db: Db, ids: readonly string[]) {
  return db.selectFrom('runs').select(RUN_COLUMNS).where('id', 'in', nonEmpty(ids));
}

/** Returns a list for `in`, which must not be empty in PostgreSQL; '' is not the id of any run. */
function nonEmpty(ids: readonly string[]): readonly string[] {
  return ids.length === 0 ? [''] : ids;
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
  return { digest, run: storedRun(run) };
}

/** Reads a page of ids in time proportional to its size. */
async function readPage(db: Db, { userId, status, limit, ...filter }: RunListFilter) {
  const { startingAfter, endingBefore } = filter;
  let { from = 0, until = Number.MAX_SAFE_INTEGER } = filter;
  const cursor = startingAfter ?? endingBefore;
  if (cursor !== undefined) {
    const run = await ofUser(db, userId, cursor).select('createdAt').executeTakeFirst();
    if (!run) return undefined;
    if (endingBefore === undefined) until = Math.min(until, run.createdAt);
    else from = Math.max(from, run.createdAt + 1);
  }
  const rows = await db
    .selectFrom('runs')
    .select('id')
    .where('userId', '=', userId)
    .$if(status !== undefined, query => query.where('status', '=', status ?? 'queued'))
    .where('createdAt', '>=', from)
    .where('createdAt', '<', until)
    .orderBy('createdAt', endingBefore === undefined ? 'desc' : 'asc')
    .limit(limit + 1)
    .execute();
  return { ids: rows.slice(0, limit).map(({ id }) => id), hasMore: rows.length > limit };
}

/** Returns the runs that fit, by their sizes alone, so that outputs that don't fit are never read. */
async function fittingRuns(db: Db, ids: readonly string[], maxBytes: number) {
  const size = sql<number>`octet_length("outputs")`.as('bytes');
  const rows = await runsOf(db, ids).clearSelect().select(['id', size]).execute();
  const sizes = new Map(rows.map(({ id, bytes }) => [id, bytes]));
  const fitting: string[] = [];
  let sum = 0;
  for (const id of ids) {
    const bytes = sizes.get(id) ?? 0;
    if (fitting.length > 0 && sum + bytes > maxBytes) break;
    sum += bytes;
    fitting.push(id);
  }
  return { fitting, bytes: sum };
}

function selectUsage(db: Db, userId: number, ids: readonly string[]) {
  return db
    .selectFrom('runs')
    .innerJoin('promptVersions', 'promptVersions.id', 'runs.promptVersionId')
    .leftJoin('runUsage', 'runUsage.runId', 'runs.id')
    .select(['runs.id', 'promptVersions.model as promptModel', 'runs.status', 'runs.credits'])
    .select([
      'runUsage.runId as usageOf',
      'runUsage.model',
      'input',
      'output',
      'cached',
      'cost',
      'estimated',
      'answers',
    ])
    .where('runs.userId', '=', userId)
    .where('runs.id', 'in', nonEmpty(ids))
    .execute();
}

/** Builds the usage of a row; undefined if the model needs no provider, or the run never got an answer. */
function withUsage({ usageOf, model, input, output, cached, cost, ...row }: UsageRow) {
  const { estimated, answers, ...run } = row;
  const counts = { input, output, cached, cost, estimated: estimated ?? 0, answers: answers ?? 1 };
  const used = { model: model ?? run.promptModel, ...counts };
  return { ...run, usage: usageOf === null ? undefined : used };
}

type UsageRow = Awaited<ReturnType<typeof selectUsage>>[number];

async function forgetImages(db: Db, which: { before: number } | { userId: number }): Promise<string[]> {
  const concerned = db
    .selectFrom('runs')
    .select(['id', 'userId', 'inputBytes'])
    .where(sql<boolean>`"inputBytes" > 0`)
    .where('status', 'in', ['succeeded', 'failed'])
    .orderBy('userId');
  const runs = await ('before' in which
    ? concerned.where('createdAt', '<', which.before * 1000)
    : concerned.where('userId', '=', which.userId)
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
