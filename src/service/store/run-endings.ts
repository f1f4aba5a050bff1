import { type Compilable, sql } from 'kysely';
import { type Db, prepared } from './queries.ts';
import type { Outcome } from './run-records.ts';
import { keepUsage } from './run-usage.ts';

type EndedRun = { id: string; userId: number; credits: number };

/** The statements that end a run: its outcome, its media, and what the user gets back. */
export function settlement(db: Db) {
  const end = ending(db);
  return async (db: Db, id: string, worker: string, outcome: Outcome): Promise<boolean> => {
    const { status, tokens, outputs } = outcome;
    const ended = await end(db, { id, worker, status, tokens, outputs: JSON.stringify(outputs) });
    const [run] = ended.rows;
    if (!run) return false;
    await keepEnd(db, run, outcome);
    return true;
  };
}

/** What else changes with the end of a run: its media, and what the user gets back. */
export async function keepEnd(db: Db, run: EndedRun, { status, media, usage }: Outcome): Promise<void> {
  const credits = status === 'failed' ? run.credits : 0;
  const bytes = media.reduce((sum, { size }) => sum + size, 0);
  if (credits > 0) await db.updateTable('runs').set({ credits: 0 }).where('id', '=', run.id).execute();
  if (credits > 0 || bytes > 0) {
    await db
      .updateTable('users')
      .set(({ eb }) => ({
        credits: eb('credits', '+', credits),
        mediaBytes: eb('mediaBytes', '+', bytes),
      }))
      .where('id', '=', run.userId)
      .execute();
  }
  const rows = media.map(item => ({ ...item, userId: run.userId }));
  if (rows.length > 0) await db.insertInto('media').values(rows).execute();
  await keepUsage(db, run.id, usage);
}

/** Ends an unfinished run, whoever has it in hand, and gives back what it had reserved; false if it has ended already. */
export async function failRun(db: Db, id: string, message: string): Promise<boolean> {
  const outcome: Outcome = {
    status: 'failed',
    outputs: [{ type: 'error', data: message }],
    tokens: 0,
    media: [],
  };
  const run = await db
    .updateTable('runs')
    .set({ status: 'failed', outputs: JSON.stringify(outcome.outputs), worker: null })
    .where('id', '=', id)
    .where(sql<boolean>`status in ('queued', 'running')`)
    .returning(['id', 'userId', 'credits'])
    .executeTakeFirst();
  if (!run) return false;
  await keepEnd(db, run, outcome);
  return true;
}

function ending(db: Db) {
  return prepared<{
    id: string;
    worker: string;
    status: Outcome['status'];
    tokens: number;
    outputs: string;
  }>()(
    db,
    (db, run): Compilable<EndedRun> =>
      db
        .updateTable('runs')
        .set({ status: run.status, tokens: run.tokens, outputs: run.outputs, worker: null })
        .where('id', '=', run.id)
        .where('worker', '=', run.worker)
        .where('status', '=', 'running')
        .returning(['id', 'userId', 'credits']),
  );
}
