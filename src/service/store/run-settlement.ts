import { type Db, prepared } from './prepared.ts';
import type { Outcome } from './runs-store.ts';

type Settle = (db: Db, id: string, worker: string, outcome: Outcome) => Promise<boolean>;

/** The statements that end a run: its outcome, its media, and the refund where it failed. */
export function settlement(db: Db): Settle {
  const end = ending(db);
  return async (db, id, worker, { status, tokens, outputs, media }) => {
    const ended = await end(db, { id, worker, status, tokens, outputs: JSON.stringify(outputs) });
    const [run] = ended.rows;
    if (!run) return false;
    if (status === 'failed') await refund(db, run);
    if (media.length > 0) await db.insertInto('media').values(media).execute();
    return true;
  };
}

function ending(db: Db) {
  return prepared<{
    id: string;
    worker: string;
    status: Outcome['status'];
    tokens: number;
    outputs: string;
  }>()(db, (db, run) =>
    db
      .updateTable('runs')
      .set({ status: run.status, tokens: run.tokens, outputs: run.outputs, request: null, worker: null })
      .where('id', '=', run.id)
      .where('worker', '=', run.worker)
      .where('status', '=', 'running')
      .returning(['id', 'userId', 'credits']),
  );
}

/** Gives the user back what a run had reserved. */
export async function refund(db: Db, run: { id: string; userId: number; credits: number }): Promise<void> {
  await db
    .updateTable('users')
    .set(({ eb }) => ({ credits: eb('credits', '+', run.credits) }))
    .where('id', '=', run.userId)
    .execute();
  await db.updateTable('runs').set({ credits: 0 }).where('id', '=', run.id).execute();
}
