import { sql } from 'kysely';
import { type Db, prepared } from './prepared.ts';
import type { NewRun } from './runs-store.ts';

type Create = (db: Db, run: NewRun, now: number) => Promise<boolean>;

/** The statements that create a run; `now` in milliseconds. */
export function creation(db: Db): Create {
  const reserve = reservation(db);
  const insert = insertion(db);
  const countUse = useCount(db);
  return async (db, run, now) => {
    const { numAffectedRows } = await reserve(db, run);
    if (numAffectedRows !== 1n) return false;
    await insert(db, { ...run, request: JSON.stringify(run.request), now: now * 1000 });
    await countUse(db, run);
    return true;
  };
}

function reservation(db: Db) {
  return prepared<{ userId: number; credits: number }>()(db, (db, values) =>
    db
      .updateTable('users')
      .set(({ eb }) => ({ credits: eb('credits', '-', values.credits) }))
      .where('id', '=', values.userId)
      .where('credits', '>=', values.credits),
  );
}

function insertion(db: Db) {
  return prepared<Omit<NewRun, 'request'> & { request: string; now: number }>()(db, (db, run) =>
    db.insertInto('runs').values({
      id: run.id,
      userId: run.userId,
      promptVersionId: run.promptVersionId,
      name: run.name,
      status: run.status,
      credits: run.credits,
      request: run.request,
      worker: run.worker,
      outputs: '[]',
      tokens: 0,
      deaths: 0,
      // Unique and growing even where the clock stood still or went back: the list's order and its cursors need it.
      createdAt: sql<number>`max(${run.now}, coalesce((select max(createdAt) + 1 from runs where userId = ${run.userId}), 0))`,
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
