import type { Db } from '../writer.ts';
import {
  CLAIM_IDEMPOTENCY_KEY,
  COUNT_USE,
  FIND_CALLER,
  FIND_CALLER_WITH_API_KEY,
  FIND_RUNNABLE_VERSION,
  INSERT_RUN,
  RESERVE_CREDITS_AND_SPACE,
  SUM_UNFINISHED_TEXTS,
} from './run-creation-queries.ts';
import { toEndColumns, writeResults } from './run-endings.ts';
import {
  CreationRefusedError,
  type Idempotency,
  type NewRun,
  type StoredRequest,
  type UserLimits,
} from './run-records.ts';

/** Lifetime of an idempotency key, in milliseconds. */
export const IDEMPOTENCY_LIFETIME_MS = 24 * 60 * 60 * 1000;

/**
 * The share of a user's space that is reserved for texts, so that a user whose media fill the rest
 * can still run prompts.
 */
export const TEXT_SHARE = 1 / 64;

/** The columns of a run that has not ended. */
const UNENDED_COLUMNS = { tokens: 0, outputs: '[]', warnings: null, endedAt: null } as const;

/**
 * Writes a new run with its reservations, in the caller's transaction.
 *
 * @param now in milliseconds
 * @returns the run's id, or the id of the run that the same idempotency key and body created before
 * @throws {CreationRefusedError} which must roll the transaction back
 */
export async function writeNewRun(
  db: Db,
  run: NewRun,
  limits: UserLimits,
  now: number,
): Promise<string> {
  const earlierRunId =
    run.idempotency && (await claimIdempotencyKey(db, run, run.idempotency, now));
  if (earlierRunId !== undefined) return earlierRunId;

  await requireCallerAndVersion(db, run);
  const createdAt = await reserveCreditsAndSpace(db, run, limits, now);

  if (run.status === 'queued' && (await isQueueFull(db, run, limits))) {
    throw new CreationRefusedError('queue');
  }

  await insertRun(db, run, createdAt);
  if (run.outcome) await writeResults(db, run, run.outcome);
  return run.id;
}

/**
 * Claims an idempotency key. Returns the id of the run that it created before; undefined if there
 * is none. Concurrent creations with the same key wait here, and get the run of the first.
 */
async function claimIdempotencyKey(
  db: Db,
  { id: runId, userId }: NewRun,
  { key, digest }: Idempotency,
  now: number,
): Promise<string | undefined> {
  const expiredBefore = now - IDEMPOTENCY_LIFETIME_MS;
  const { numAffectedRows } = await CLAIM_IDEMPOTENCY_KEY.run(db, {
    userId,
    key,
    digest,
    runId,
    now,
    expiredBefore,
  });
  if (numAffectedRows === 1n) return undefined;

  const earlierClaim = await db
    .selectFrom('idempotencyKeys')
    .select(['digest', 'runId'])
    .where('userId', '=', userId)
    .where('key', '=', key)
    .executeTakeFirstOrThrow();
  if (earlierClaim.digest !== digest) throw new CreationRefusedError('key');
  return earlierClaim.runId;
}

/**
 * Checks that the caller's key and plan, and the version, still exist.
 *
 * @throws {CreationRefusedError} if one was removed after the request arrived
 */
async function requireCallerAndVersion(
  db: Db,
  { keyId, userId, promptVersionId }: NewRun,
): Promise<void> {
  const caller = await (keyId === undefined
    ? FIND_CALLER.findFirst(db, { userId })
    : FIND_CALLER_WITH_API_KEY.findFirst(db, { userId, keyId }));
  if (!caller) throw new CreationRefusedError('caller');
  if (!(await FIND_RUNNABLE_VERSION.findFirst(db, { promptVersionId }))) {
    throw new CreationRefusedError('version');
  }
}

/**
 * Reserves credits and space of the user. Returns the `createdAt` of the run, by which the user's
 * list is ordered.
 */
async function reserveCreditsAndSpace(
  db: Db,
  run: NewRun,
  limits: UserLimits,
  now: number,
): Promise<number> {
  const { userId, credits, inputBytes } = run;
  const maxMediaBytes = await computeMaxMediaBytes(db, run, limits);
  const nowMicros = now * 1000;
  const reservation = await RESERVE_CREDITS_AND_SPACE.findFirst(db, {
    userId,
    credits,
    inputBytes,
    maxMediaBytes,
    nowMicros,
  });
  if (reservation) return reservation.lastRunAt;

  const user = await db
    .selectFrom('users')
    .select('credits')
    .where('id', '=', userId)
    .executeTakeFirst();
  throw new CreationRefusedError(user && user.credits >= credits ? 'space' : 'credits');
}

/** Returns the most media bytes that the user may have without this run if it is to be created. */
async function computeMaxMediaBytes(
  db: Db,
  { userId, inputBytes, textBytes, needsSpace }: NewRun,
  limits: UserLimits,
): Promise<number> {
  if (textBytes === 0 && !needsSpace) return Number.MAX_SAFE_INTEGER;
  const unfinished = await SUM_UNFINISHED_TEXTS.findFirst(db, { userId });
  const allTextBytes = (unfinished?.bytes ?? 0) + textBytes;
  if (needsSpace) return limits.maxMediaBytes - inputBytes - allTextBytes - 1;
  const isWithinShare = allTextBytes <= Math.floor(limits.maxMediaBytes * TEXT_SHARE);
  return isWithinShare ? Number.MAX_SAFE_INTEGER : limits.maxMediaBytes - allTextBytes;
}

async function isQueueFull(
  db: Db,
  { userId }: NewRun,
  { maxQueuedRuns }: UserLimits,
): Promise<boolean> {
  if (maxQueuedRuns === 0) return true;
  const lastAllowedRun = await db
    .selectFrom('runs')
    .select('id')
    .where('userId', '=', userId)
    .where('status', '=', 'queued')
    .offset(maxQueuedRuns - 1)
    .limit(1)
    .executeTakeFirst();
  return lastAllowedRun !== undefined;
}

/** Returns a request as JSON for its column, without texts that are kept as blobs. */
export function encodeRequest(request: StoredRequest): string {
  return JSON.stringify(request.textsApart ? { ...request, textInputs: {} } : request);
}

async function insertRun(db: Db, run: NewRun, createdAt: number): Promise<void> {
  const { id, userId, promptVersionId, name, model, credits, inputBytes, textBytes, outcome } = run;
  const row = {
    id,
    userId,
    promptVersionId,
    name,
    model,
    credits,
    inputBytes,
    textBytes,
    createdAt,
  };

  const request = outcome?.forgetsRequest ? null : encodeRequest(run.request);
  const stateColumns = outcome
    ? { worker: null, ...toEndColumns(outcome) }
    : { worker: run.worker, status: run.status, ...UNENDED_COLUMNS };
  await INSERT_RUN.run(db, { ...row, request, ...stateColumns });
  await COUNT_USE.run(db, { promptId: run.promptId });
}
