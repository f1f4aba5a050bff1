import { type Compilable, sql } from 'kysely';
import { type Db, prepared, type Writer } from './queries.ts';
import { keepEnd } from './run-endings.ts';
import type { Creation, Idempotency, NewRun, RefusalReason, UserLimits } from './run-records.ts';
import type { Tables } from './tables.ts';

/** How long a key keeps leading to the run it made, in milliseconds. */
export const IDEMPOTENCY_LIFETIME_MS = 24 * 60 * 60 * 1000;

/** Undoes what the creation has written so far. */
class Refusal extends Error {
  constructor(readonly creation: Exclude<Creation, { state: 'created' }>) {
    super(creation.state);
  }
}

/** Keeps a new run, with all that goes with it or not at all; `now` in milliseconds. */
export function runCreation(
  db: Db,
  writer: Writer,
): (run: NewRun, limits: UserLimits, now: number) => Promise<Creation> {
  const claimKey = keyClaim(db);
  const reserve = reservation(db);
  const queueIsFull = queueCheck(db);
  const insert = insertion(db);
  const countUse = useCount(db);
  return async (run, limits, now) => {
    try {
      return await writer.write(async db => {
        if (run.idempotency) await claimKey(db, run, run.idempotency, now);
        const createdAt = await reserve(db, run, limits, now);
        if (run.status === 'queued' && (await queueIsFull(db, run, limits))) throw refusal('queue');
        await insert(db, rowOf(run, createdAt));
        if (run.outcome) await keepEnd(db, run, run.outcome);
        await countUse(db, run);
        return { state: 'created' };
      });
    } catch (error) {
      if (error instanceof Refusal) return error.creation;
      throw error;
    }
  };
}

function refusal(reason: RefusalReason): Refusal {
  return new Refusal({ state: 'refused', reason });
}

/** Of several creations with one key at once, one gets it and the others wait for that one here. */
function keyClaim(db: Db) {
  const take = prepared<{
    userId: number;
    key: string;
    digest: string;
    runId: string;
    now: number;
    before: number;
  }>()(db, (db, row) =>
    db
      .insertInto('idempotencyKeys')
      .values({ userId: row.userId, key: row.key, digest: row.digest, runId: row.runId, createdAt: row.now })
      .onConflict(conflict =>
        conflict
          .columns(['userId', 'key'])
          .doUpdateSet({ digest: row.digest, runId: row.runId, createdAt: row.now })
          .where('idempotencyKeys.createdAt', '<', row.before),
      ),
  );
  return async (db: Db, { id, userId }: NewRun, { key, digest }: Idempotency, now: number): Promise<void> => {
    const before = now - IDEMPOTENCY_LIFETIME_MS;
    const { numAffectedRows } = await take(db, { userId, key, digest, runId: id, now, before });
    if (numAffectedRows === 1n) return;
    const known = await db
      .selectFrom('idempotencyKeys')
      .select(['digest', 'runId'])
      .where('userId', '=', userId)
      .where('key', '=', key)
      .executeTakeFirstOrThrow();
    throw known.digest === digest ? new Refusal({ state: 'repeated', runId: known.runId }) : refusal('key');
  };
}

/** Takes credits and space off what the user has left; gives the run's place in the user's list. */
function reservation(db: Db) {
  const take = prepared<{
    userId: number;
    credits: number;
    inputBytes: number;
    space: number;
    now: number;
  }>()(
    db,
    (db, values): Compilable<{ lastRunAt: number }> =>
      db
        .updateTable('users')
        .set(({ eb, ref }) => ({
          credits: eb('credits', '-', values.credits),
          mediaBytes: eb('mediaBytes', '+', values.inputBytes),
          // Unique and growing even where the clock stood still or went back: the list's order and its cursors need it.
          lastRunAt: sql<number>`case when ${ref('lastRunAt')} < ${values.now} then ${values.now} else ${ref('lastRunAt')} + 1 end`,
        }))
        .where('id', '=', values.userId)
        .where('credits', '>=', values.credits)
        .where('mediaBytes', '<', values.space)
        .returning('lastRunAt'),
  );
  return async (db: Db, run: NewRun, limits: UserLimits, now: number): Promise<number> => {
    const { userId, credits, inputBytes } = run;
    const space = run.needsSpace ? limits.mediaBytes - inputBytes : Number.MAX_SAFE_INTEGER;
    const [taken] = (await take(db, { userId, credits, inputBytes, space, now: now * 1000 })).rows;
    if (taken) return taken.lastRunAt;
    const user = await db.selectFrom('users').select('credits').where('id', '=', userId).executeTakeFirst();
    throw refusal(user && user.credits >= credits ? 'space' : 'credits');
  };
}

function queueCheck(db: Db) {
  const lastAllowed = prepared<{ userId: number; others: number }>()(db, (db, { userId, others }) =>
    db
      .selectFrom('runs')
      .select('id')
      .where('userId', '=', userId)
      .where('status', '=', 'queued')
      .offset(others)
      .limit(1),
  );
  return async (db: Db, { userId }: NewRun, { queued }: UserLimits): Promise<boolean> =>
    queued === 0 || (await lastAllowed(db, { userId, others: queued - 1 })).rows.length > 0;
}

function rowOf(run: NewRun, createdAt: number): Tables['runs'] {
  const { outcome } = run;
  return {
    id: run.id,
    userId: run.userId,
    promptVersionId: run.promptVersionId,
    name: run.name,
    model: run.model,
    status: outcome?.status ?? run.status,
    createdAt,
    credits: run.credits,
    tokens: outcome?.tokens ?? 0,
    outputs: JSON.stringify(outcome?.outputs ?? []),
    request: JSON.stringify(run.request),
    worker: outcome ? null : run.worker,
    deaths: 0,
    inputBytes: run.inputBytes,
  };
}

function insertion(db: Db) {
  return prepared<Tables['runs']>()(db, (db, run) =>
    db.insertInto('runs').values({
      id: run.id,
      userId: run.userId,
      promptVersionId: run.promptVersionId,
      name: run.name,
      model: run.model,
      status: run.status,
      createdAt: run.createdAt,
      credits: run.credits,
      tokens: run.tokens,
      outputs: run.outputs,
      request: run.request,
      worker: run.worker,
      deaths: run.deaths,
      inputBytes: run.inputBytes,
    }),
  );
}

function useCount(db: Db) {
  return prepared<{ promptId: string }>()(db, (db, { promptId }) =>
    db
      .updateTable('prompts')
      .set(({ eb }) => ({ uses: eb('uses', '+', 1) }))
      .where('id', '=', promptId),
  );
}
