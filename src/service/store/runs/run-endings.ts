import { sql } from 'kysely';
import { PreparedQuery, type ValueOf } from '../prepared-query.ts';
import type { Tables } from '../tables.ts';
import type { Db } from '../writer.ts';
import type { RunOutcome } from './run-records.ts';

/** The columns of a run that its end fills in. */
export interface EndColumns extends Pick<RunOutcome, 'status' | 'tokens'> {
  readonly outputs: string;
  readonly warnings: string | null;
  readonly endedAt: number | null;
}

interface EndValues extends EndColumns {
  readonly id: string;
  /** 1 to delete the request. */
  readonly forgetsRequest: 0 | 1;
}

const END_RUN = new PreparedQuery((db, value: ValueOf<EndValues>) => updateEndedRun(db, value));

const END_RUN_OF_WORKER = new PreparedQuery((db, value: ValueOf<EndValues & { worker: string }>) =>
  updateEndedRun(db, value).where('worker', '=', value('worker')),
);

function updateEndedRun(db: Db, value: ValueOf<EndValues>) {
  return db
    .updateTable('runs')
    .set({
      status: value('status'),
      tokens: value('tokens'),
      outputs: value('outputs'),
      warnings: value('warnings'),
      worker: null,
      endedAt: value('endedAt'),
      // A queued run never reached a model, so there is nothing to keep its request for.
      request: sql<
        string | null
      >`case when status = 'queued' or ${value('forgetsRequest')} = 1 then null else request end`,
    })
    .where('id', '=', value('id'))
    .where(sql<boolean>`status in ('queued', 'running')`)
    .returning(['userId', 'credits']);
}

/**
 * Ends an unfinished run as failed, whichever worker holds it; returns false if it has already
 * ended.
 */
export async function failRun(
  db: Db,
  id: string,
  message: string,
  endedAt?: number,
): Promise<boolean> {
  return await endRun(db, id, {
    status: 'failed',
    outputs: [{ type: 'error', data: message }],
    tokens: 0,
    media: [],
    endedAt,
  });
}

/**
 * Writes the outcome of an unfinished run with its media, usage and refund; returns false if it has
 * already ended.
 *
 * @param worker the worker that must hold the run; default any
 */
export async function endRun(
  db: Db,
  id: string,
  outcome: RunOutcome,
  worker?: string,
): Promise<boolean> {
  const values = {
    id,
    ...toEndColumns(outcome),
    forgetsRequest: outcome.forgetsRequest ? 1 : 0,
  } as const;
  const run = await (worker === undefined
    ? END_RUN.findFirst(db, values)
    : END_RUN_OF_WORKER.findFirst(db, { ...values, worker }));
  if (!run) return false;

  await writeResults(db, { id, ...run }, outcome);
  return true;
}

export function toEndColumns({
  status,
  tokens,
  outputs,
  warnings = [],
  endedAt,
}: RunOutcome): EndColumns {
  return {
    status,
    tokens,
    outputs: JSON.stringify(outputs),
    warnings: warnings.length === 0 ? null : JSON.stringify(warnings),
    endedAt: endedAt ?? null,
  };
}

/** Writes the media, usage and refund of a run whose end has been written. */
export async function writeResults(
  db: Db,
  { id, userId, credits: reservedCredits }: Pick<Tables['runs'], 'id' | 'userId' | 'credits'>,
  { status, media, usage }: RunOutcome,
): Promise<void> {
  const credits = status === 'failed' ? reservedCredits : 0;
  const bytes = media.reduce((sum, { size }) => sum + size, 0);
  if (credits > 0) await db.updateTable('runs').set({ credits: 0 }).where('id', '=', id).execute();

  if (credits > 0 || bytes > 0) {
    await db
      .updateTable('users')
      .set(({ eb }) => ({
        credits: eb('credits', '+', credits),
        mediaBytes: eb('mediaBytes', '+', bytes),
      }))
      .where('id', '=', userId)
      .execute();
  }

  const rows = media.map(item => ({ ...item, userId }));
  if (rows.length > 0) await db.insertInto('media').values(rows).execute();

  if (usage) {
    await db
      .insertInto('runUsage')
      .values({ runId: id, ...usage })
      .execute();
  }
}
