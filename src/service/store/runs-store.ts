import { sql } from 'kysely';
import { type Db, prepared } from './prepared.ts';
import { type NewRun, type Outcome, parseOutputs, RUN_COLUMNS, type StoredRun } from './run-records.ts';
import type { Writer } from './sqlite/writer.ts';

/** Creates, reads and ends runs. */
export interface RunsStore {
  /** Reserves the credits and queues the run, both or neither; false if the balance is too low. */
  create(run: NewRun, now: number): Promise<boolean>;
  find(userId: number, id: string): Promise<StoredRun | undefined>;
  /** The outcome, the refund of a failed run and its media, if the run is still this worker's. */
  settle(id: string, worker: string, outcome: Outcome): Promise<boolean>;
}

export function runsStore(db: Db, writer: Writer): RunsStore {
  const byId = prepared<{ id: string; userId: number }>()(db, (db, { id, userId }) =>
    db.selectFrom('runs').select(RUN_COLUMNS).where('id', '=', id).where('userId', '=', userId),
  );
  const create = creation(db);
  const settle = settlement(db);
  return {
    create: (run, now) => writer.write(db => create(db, run, now)),
    find: async (userId, id) => {
      const [row] = (await byId(db, { id, userId })).rows;
      return row && parseOutputs(row);
    },
    settle: (id, worker, outcome) => writer.write(db => settle(db, id, worker, outcome)),
  };
}

type Create = (db: Db, run: NewRun, now: number) => Promise<boolean>;

/** The statements that create a run; `now` in milliseconds. */
function creation(db: Db): Create {
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

type Settle = (db: Db, id: string, worker: string, outcome: Outcome) => Promise<boolean>;

/** The statements that end a run: its outcome, its media, and the refund where it failed. */
function settlement(db: Db): Settle {
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
