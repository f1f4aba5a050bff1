import { sql } from 'kysely';
import { runnableVersion } from './prompts-store.ts';
import { endRun } from './run-endings.ts';
import {
  CreationRefused,
  type Idempotency,
  type NewRun,
  type StoredRequest,
  type UserLimits,
} from './run-records.ts';
import type { Db } from './writer.ts';

/** Lifetime of an idempotency key, in milliseconds. */
export const IDEMPOTENCY_LIFETIME_MS = 24 * 60 * 60 * 1000;

/**
 * Writes a new run with its reservations, in the caller's transaction.
 *
 * @param now in milliseconds
 * @returns the run's id, or the id of the run that the same idempotency key and body created before
 * @throws {CreationRefused} which must roll the transaction back
 */
export async function writeNewRun(db: Db, run: NewRun, limits: UserLimits, now: number): Promise<string> {
  const former = run.idempotency && (await claimKey(db, run, run.idempotency, now));
  if (former !== undefined) return former;
  await checkCaller(db, run);
  const createdAt = await reserve(db, run, limits, now);
  if (run.status === 'queued' && (await isQueueFull(db, run, limits))) throw new CreationRefused('queue');
  await insertRun(db, run, createdAt);
  if (run.outcome) await endRun(db, run.id, run.outcome);
  return run.id;
}

/**
 * Claims an idempotency key; returns the run that it created before, if any. Concurrent creations with the same key wait
 * here, and get the run of the first.
 */
async function claimKey(
  db: Db,
  { id: runId, userId }: NewRun,
  { key, digest }: Idempotency,
  now: number,
): Promise<string | undefined> {
  const row = { digest, runId, createdAt: now };
  const { numInsertedOrUpdatedRows } = await db
    .insertInto('idempotencyKeys')
    .values({ userId, key, ...row })
    .onConflict(conflict =>
      conflict
        .columns(['userId', 'key'])
        .doUpdateSet(row)
        .where('idempotencyKeys.createdAt', '<', now - IDEMPOTENCY_LIFETIME_MS),
    )
    .executeTakeFirst();
  if (numInsertedOrUpdatedRows === 1n) return undefined;
  const former = await db
    .selectFrom('idempotencyKeys')
    .select(['digest', 'runId'])
    .where('userId', '=', userId)
    .where('key', '=', key)
    .executeTakeFirstOrThrow();
  if (former.digest !== digest) throw new CreationRefused('key');
  return former.runId;
}

/** Checks that the caller's key and plan, and the version, still exist since the request arrived. */
async function checkCaller(db: Db, { keyId, userId, promptVersionId }: NewRun): Promise<void> {
  const caller = db
    .selectFrom('users')
    .select('users.id')
    .where('users.id', '=', userId)
    .where('plan', '<>', 'none');
  const withKey = caller.innerJoin('keys', 'keys.userId', 'users.id').where('keys.id', '=', keyId ?? '');
  const isThere = await (keyId === undefined ? caller : withKey).executeTakeFirst();
  if (!isThere) throw new CreationRefused('caller');
  const version = await runnableVersion(db, promptVersionId).select('promptVersions.id').executeTakeFirst();
  if (!version) throw new CreationRefused('version');
}

/** The share of a user's space that is reserved for texts, so that a user whose media fill the rest can still run prompts. */
export const TEXT_SHARE = 1 / 64;

/** Returns the bytes of input texts of a user's unfinished runs. */
async function openTextBytes(db: Db, userId: number): Promise<number> {
  const { bytes } = await db
    .selectFrom('runs')
    .select(sql<number>`cast(coalesce(sum("textBytes"), 0) as bigint)`.as('bytes'))
    .where('userId', '=', userId)
    .where(sql<boolean>`status in ('queued', 'running')`)
    .executeTakeFirstOrThrow();
  return bytes;
}

/** Reserves credits and space of the user; returns the run's `createdAt`, which orders the user's list. */
async function reserve(db: Db, run: NewRun, limits: UserLimits, now: number): Promise<number> {
  const { userId, credits, inputBytes, textBytes } = run;
  const nowMicros = now * 1000;
  const texts = textBytes > 0 || run.needsSpace ? (await openTextBytes(db, userId)) + textBytes : 0;
  const isWithinShare = texts <= Math.floor(limits.mediaBytes * TEXT_SHARE);
  const taken = await db
    .updateTable('users')
    .set(({ eb, ref }) => ({
      credits: eb('credits', '-', credits),
      mediaBytes: eb('mediaBytes', '+', inputBytes),
      // Unique and growing even if the clock stands still or goes back, because the list is ordered by it.
      lastRunAt: sql<number>`case when ${ref('lastRunAt')} < ${nowMicros} then ${nowMicros} else ${ref('lastRunAt')} + 1 end`,
    }))
    .where('id', '=', userId)
    .where('credits', '>=', credits)
    .$if(run.needsSpace, query => query.where('mediaBytes', '<', limits.mediaBytes - inputBytes - texts))
    .$if(textBytes > 0 && !run.needsSpace && !isWithinShare, query =>
      query.where('mediaBytes', '<=', limits.mediaBytes - texts),
    )
    .returning('lastRunAt')
    .executeTakeFirst();
  if (taken) return taken.lastRunAt;
  const user = await db.selectFrom('users').select('credits').where('id', '=', userId).executeTakeFirst();
  throw new CreationRefused(user && user.credits >= credits ? 'space' : 'credits');
}

async function isQueueFull(db: Db, { userId }: NewRun, { queued }: UserLimits): Promise<boolean> {
  if (queued === 0) return true;
  const last = await db
    .selectFrom('runs')
    .select('id')
    .where('userId', '=', userId)
    .where('status', '=', 'queued')
    .offset(queued - 1)
    .limit(1)
    .executeTakeFirst();
  return last !== undefined;
}

/** Returns a request as JSON for its column, without texts that are kept as blobs. */
export function requestJson(request: StoredRequest): string {
  return JSON.stringify(request.textsApart ? { ...request, textInputs: {} } : request);
}

async function insertRun(db: Db, run: NewRun, createdAt: number): Promise<void> {
  const { idempotency: _, needsSpace: __, outcome: ___, keyId: ____, promptId, request, ...row } = run;
  await db
    .insertInto('runs')
    .values({ ...row, createdAt, request: requestJson(request) })
    .execute();
  await db
    .updateTable('prompts')
    .set(({ eb }) => ({ uses: eb('uses', '+', 1) }))
    .where('id', '=', promptId)
    .execute();
}
