import { sql } from 'kysely';
import type { RunStatus } from '../../wire/index.ts';
import { parseOutputs, RUN_COLUMNS, type StoredRun } from './run-records.ts';
import type { Db } from './writer.ts';

/** Which of a user's runs; times in microseconds: from `from` on, before `until`. */
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

/** Lists runs; the cost of a page depends on its size alone. */
export function runList(db: Db) {
  return {
    /** The ids of a page, the nearest to the cursor first, and whether more lie beyond; undefined for a cursor that is none of the user's runs. */
    async page({ userId, status, startingAfter, endingBefore, limit, ...times }: RunListFilter) {
      let { from = 0, until = Number.MAX_SAFE_INTEGER } = times;
      const cursor = startingAfter ?? endingBefore;
      if (cursor !== undefined) {
        const at = await createdAtOf(db, userId, cursor);
        if (at === undefined) return undefined;
        if (endingBefore === undefined) until = Math.min(until, at);
        else from = Math.max(from, at + 1);
      }
      const rows = await db
        .selectFrom('runs')
        .select('id')
        .where('userId', '=', userId)
        .$if(status !== undefined, query => query.where('status', '=', status ?? 'queued'))
        .where('createdAt', '>=', from)
        .where('createdAt', '<', until)
        .orderBy('createdAt', endingBefore === undefined ? 'desc' : 'asc')
        .limit(limit + 1)
        .execute();
      return { ids: rows.slice(0, limit).map(({ id }) => id), hasMore: rows.length > limit };
    },
    /**
     * These runs in this order: the first one, and those that follow as long as all outputs have at most `mostBytes`.
     *
     * @param onBytes is told what there is before any large output is read, and may throw
     */
    read: (ids: readonly string[], mostBytes: number, onBytes: (bytes: number) => void) =>
      readRuns(db, ids, mostBytes, onBytes),
  };
}

async function createdAtOf(db: Db, userId: number, id: string): Promise<number | undefined> {
  const run = await db
    .selectFrom('runs')
    .select('createdAt')
    .where('id', '=', id)
    .where('userId', '=', userId)
    .executeTakeFirst();
  return run?.createdAt;
}

/** Sizes are looked at first, so that outputs that don't fit are not read at all. */
async function readRuns(
  db: Db,
  ids: readonly string[],
  mostBytes: number,
  onBytes: (bytes: number) => void,
): Promise<StoredRun[]> {
  if (ids.length === 0) return [];
  const sizes = await db
    .selectFrom('runs')
    .select(['id', sql<number>`octet_length("outputs")`.as('bytes')])
    .where('id', 'in', ids)
    .execute();
  const sizeOf = new Map(sizes.map(({ id, bytes }) => [id, bytes]));
  let sum = 0;
  const fitting: string[] = [];
  for (const id of ids) {
    const bytes = sizeOf.get(id) ?? 0;
    if (fitting.length > 0 && sum + bytes > mostBytes) break;
    sum += bytes;
    fitting.push(id);
  }
  onBytes(sum);
  const rows = await db.selectFrom('runs').select(RUN_COLUMNS).where('id', 'in', fitting).execute();
  const runs = new Map(rows.map(row => [row.id, parseOutputs(row)]));
  return fitting.flatMap(id => runs.get(id) ?? []);
}
