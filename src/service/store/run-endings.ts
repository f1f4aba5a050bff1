import { sql } from 'kysely';
import type { RunOutcome } from './run-records.ts';
import type { Db } from './writer.ts';

/** Ends an unfinished run as failed, whichever worker holds it; returns false if it has already ended. */
export async function failRun(db: Db, id: string, message: string, endedAt?: number): Promise<boolean> {
  return await endRun(db, id, {
    status: 'failed',
    outputs: [{ type: 'error', data: message }],
    tokens: 0,
    media: [],
    endedAt,
  });
}

/**
 * Writes the outcome of an unfinished run with its media, usage and refund; returns false if it has already ended.
 *
 * @param worker the worker that must hold the run; default any
 */
export async function endRun(db: Db, id: string, outcome: RunOutcome, worker?: string): Promise<boolean> {
  const { status, outputs, tokens, media, usage, warnings = [], forgetsRequest = false } = outcome;
  const run = await db
    .updateTable('runs')
    .set({
      status,
      tokens,
      outputs: JSON.stringify(outputs),
      warnings: warnings.length === 0 ? null : JSON.stringify(warnings),
      worker: null,
      endedAt: outcome.endedAt ?? null,
      // A queued run never reached a model, so there is nothing to keep its request for.
      request: forgetsRequest
        ? null
        : sql<string | null>`case when status = 'queued' then null else request end`,
    })
    .where('id', '=', id)
    .where(sql<boolean>`status in ('queued', 'running')`)
    .$if(worker !== undefined, query => query.where('worker', '=', worker ?? ''))
    .returning(['userId', 'credits'])
    .executeTakeFirst();
  if (!run) return false;
  const credits = status === 'failed' ? run.credits : 0;
  const bytes = media.reduce((sum, { size }) => sum + size, 0);
  if (credits > 0) await db.updateTable('runs').set({ credits: 0 }).where('id', '=', id).execute();
  if (credits > 0 || bytes > 0) {
    await db
      .updateTable('users')
      .set(({ eb }) => ({ credits: eb('credits', '+', credits), mediaBytes: eb('mediaBytes', '+', bytes) }))
      .where('id', '=', run.userId)
      .execute();
  }
  const rows = media.map(item => ({ ...item, userId: run.userId }));
  if (rows.length > 0) await db.insertInto('media').values(rows).execute();
  if (usage) {
    await db
      .insertInto('runUsage')
      .values({ runId: id, ...usage })
      .execute();
  }
  return true;
}
