import { sql } from 'kysely';
import { endRun } from './run-endings.ts';
import type { Creation, Idempotency, NewRun, RefusalReason, UserLimits } from './run-records.ts';
import type { Db, Writer } from './writer.ts';

/** How long a key keeps leading to the run it made, in milliseconds. */
export const IDEMPOTENCY_LIFETIME_MS = 24 * 60 * 60 * 1000;

/** Undoes what the creation has written so far. */
class Refusal extends Error {
  constructor(readonly creation: Exclude<Creation, { state: 'created' }>) {
    super(creation.state);
  }
}

/** Keeps a new run, with all that goes with it or not at all; `now` in milliseconds. */
export async function createRun(
  writer: Writer,
  run: NewRun,
  limits: UserLimits,
  now: number,
): Promise<Creation> {
  try {
    return await writer.write(async db => {
      if (run.idempotency) await claimKey(db, run, run.idempotency, now);
      const createdAt = await reserve(db, run, limits, now);
      if (run.status === 'queued' && (await isQueueFull(db, run, limits))) throw refusal('queue');
      await insertRun(db, run, createdAt);
      if (run.outcome) await endRun(db, run.id, run.outcome);
      return { state: 'created' };
    });
  } catch (error) {
    if (error instanceof Refusal) return error.creation;
    throw error;
  }
}

function refusal(reason: RefusalReason): Refusal {
  return new Refusal({ state: 'refused', reason });
}

/** Of several creations with one key at once, one gets it and the others wait for that one here. */
async function claimKey(
  db: Db,
  { id: runId, userId }: NewRun,
  { key, digest }: Idempotency,
  now: number,
): Promise<void> {
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
  if (numInsertedOrUpdatedRows === 1n) return;
  const known = await db
    .selectFrom('idempotencyKeys')
    .select(['digest', 'runId'])
    .where('userId', '=', userId)
    .where('key', '=', key)
    .executeTakeFirstOrThrow();
  throw known.digest === digest ? new Refusal({ state: 'repeated', runId: known.runId }) : refusal('key');
}

/** Takes credits and space off what the user has left; gives the run's place in the user's list. */
async function reserve(db: Db, run: NewRun, limits: UserLimits, now: number): Promise<number> {
  const { userId, credits, inputBytes } = run;
  const nowMicros = now * 1000;
  const taken = await db
    .updateTable('users')
    .set(({ eb, ref }) => ({
      credits: eb('credits', '-', credits),
      mediaBytes: eb('mediaBytes', '+', inputBytes),
      // Unique and growing even where the clock stood still or went back: the list's order and its cursors need it.
      lastRunAt: sql<number>`case when ${ref('lastRunAt')} < ${nowMicros} then ${nowMicros} else ${ref('lastRunAt')} + 1 end`,
    }))
    .where('id', '=', userId)
    .where('credits', '>=', credits)
    .$if(run.needsSpace, query => query.where('mediaBytes', '<', limits.mediaBytes - inputBytes))
    .returning('lastRunAt')
    .executeTakeFirst();
  if (taken) return taken.lastRunAt;
  const user = await db.selectFrom('users').select('credits').where('id', '=', userId).executeTakeFirst();
  throw refusal(user && user.credits >= credits ? 'space' : 'credits');
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

async function insertRun(db: Db, run: NewRun, createdAt: number): Promise<void> {
  const { idempotency: _, needsSpace: __, outcome: ___, promptId, request, ...row } = run;
  await db
    .insertInto('runs')
    .values({ ...row, createdAt, request: JSON.stringify(request) })
    .execute();
  await db
    .updateTable('prompts')
    .set(({ eb }) => ({ uses: eb('uses', '+', 1) }))
    .where('id', '=', promptId)
    .execute();
}
