import { sql } from 'kysely';
import type { RunStatus } from '../../wire/index.ts';
import { type Db, type Prepared, prepared } from './queries.ts';
import { parseOutputs, RUN_COLUMNS, type StoredRun } from './run-records.ts';

/** Which of a user's runs, in microseconds: from `from` on, before `until`. */
export interface RunListFilter {
  userId: number;
  status?: RunStatus | undefined;
  from?: number | undefined;
  until?: number | undefined;
  /** A run's id: only runs created before it, the nearest first. */
  startingAfter?: string | undefined;
  /** A run's id: only runs created after it, the nearest to it. */
  endingBefore?: string | undefined;
  limit: number;
}

/** A page, the nearest to the cursor first, and whether more lie beyond it in the direction of paging. */
export interface StoredRunPage {
  /** Of the runs alone: the rest of most is known already. */
  ids: string[];
  hasMore: boolean;
}

/** Lists runs; the cost of a page depends on its size alone. */
export interface RunList {
  /** undefined if a cursor is none of the user's runs. */
  page(filter: RunListFilter): Promise<StoredRunPage | undefined>;
  /**
   * These runs in this order: the first one, and those that follow as long as all outputs have at most `mostBytes`.
   * Before any large output is read, `onBytes` is told what there is, and may throw.
   */
  read(ids: readonly string[], mostBytes: number, onBytes: (bytes: number) => void): Promise<StoredRun[]>;
}

interface Bounds {
  userId: number;
  status: RunStatus;
  from: number;
  until: number;
  count: number;
}

export function runList(db: Db): RunList {
  const query = pageQueries(db);
  const cursorTime = prepared<{ userId: number; id: string }>()(db, (db, { userId, id }) =>
    db.selectFrom('runs').select('createdAt').where('id', '=', id).where('userId', '=', userId),
  );
  return {
    async page(filter) {
      const { userId, status, startingAfter, endingBefore, limit } = filter;
      const cursor = startingAfter ?? endingBefore;
      const [at] = cursor === undefined ? [] : (await cursorTime(db, { userId, id: cursor })).rows;
      if (cursor !== undefined && !at) return undefined;
      const backward = endingBefore !== undefined;
      const { rows } = await query(status !== undefined, backward)(db, {
        userId,
        status: status ?? 'queued',
        from: Math.max(filter.from ?? 0, backward && at ? at.createdAt + 1 : 0),
        until: Math.min(
          filter.until ?? Number.MAX_SAFE_INTEGER,
          !backward && at ? at.createdAt : Number.MAX_SAFE_INTEGER,
        ),
        count: limit + 1,
      });
      const ids = rows.slice(0, limit).map(({ id }) => id);
      return { ids, hasMore: rows.length > limit };
    },
    read: (ids, mostBytes, onBytes) => readRuns(db, ids, { mostBytes, onBytes }),
  };
}

/** Outputs of more bytes than these are read one after the other, so that those that don't fit are not read at all. */
const LARGE_BYTES = 64 * 1024;

async function readRuns(
  db: Db,
  ids: readonly string[],
  { mostBytes, onBytes }: { mostBytes: number; onBytes: (bytes: number) => void },
): Promise<StoredRun[]> {
  if (ids.length === 0) return [];
  const rows = await db
    .selectFrom('runs')
    .select(RUN_COLUMNS.filter(column => column !== 'outputs'))
    .select(sql<number>`octet_length("outputs")`.as('bytes'))
    .select(
      sql<string | null>`case when octet_length("outputs") <= ${LARGE_BYTES} then "outputs" end`.as(
        'outputs',
      ),
    )
    .where('id', 'in', ids)
    .execute();
  const found = new Map(rows.map(row => [row.id, row]));
  const fitting = firstWithin(
    ids.flatMap(id => found.get(id) ?? []),
    mostBytes,
  );
  onBytes(fitting.reduce((sum, { bytes }) => sum + bytes, 0));
  const read: StoredRun[] = [];
  for (const { bytes: _, outputs, ...run } of fitting) {
    read.push(parseOutputs({ ...run, outputs: outputs ?? (await outputsOf(db, run.id)) }));
  }
  return read;
}

/** The first, and those that follow as long as all together have at most `mostBytes`. */
function firstWithin<R extends { bytes: number }>(rows: readonly R[], mostBytes: number): readonly R[] {
  let sum = 0;
  const past = rows.findIndex(({ bytes }, index) => {
    sum += bytes;
    return index > 0 && sum > mostBytes;
  });
  return past < 0 ? rows : rows.slice(0, past);
}

async function outputsOf(db: Db, id: string): Promise<string> {
  const row = await db.selectFrom('runs').select('outputs').where('id', '=', id).executeTakeFirstOrThrow();
  return row.outputs;
}

function pageQueries(db: Db): (byStatus: boolean, backward: boolean) => Prepared<Bounds, { id: string }> {
  const all = { forward: pageQuery(db, false, 'desc'), backward: pageQuery(db, false, 'asc') };
  const one = { forward: pageQuery(db, true, 'desc'), backward: pageQuery(db, true, 'asc') };
  return (byStatus, backward) => (byStatus ? one : all)[backward ? 'backward' : 'forward'];
}

function pageQuery(db: Db, byStatus: boolean, order: 'asc' | 'desc'): Prepared<Bounds, { id: string }> {
  return prepared<Bounds>()(db, (db, bounds) =>
    db
      .selectFrom('runs')
      .select('id')
      .where('userId', '=', bounds.userId)
      .$if(byStatus, query => query.where('status', '=', bounds.status))
      .where('createdAt', '>=', bounds.from)
      .where('createdAt', '<', bounds.until)
      .orderBy('createdAt', order)
      .limit(bounds.count),
  );
}
