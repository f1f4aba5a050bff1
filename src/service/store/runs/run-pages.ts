import { sql } from 'kysely';
import type { RunStatus } from '../../../wire/index.ts';
import type { Db } from '../writer.ts';
import { parseStoredRun, type StoredRun } from './run-records.ts';
import { selectRunsWithIds, selectUserRun } from './run-selections.ts';

/** A query for a page of a user's runs. */
export interface RunPageQuery {
  readonly userId: number;
  readonly status?: RunStatus | undefined;
  /** The earliest `createdAt`. */
  readonly fromMicros?: number | undefined;
  /** The time before which the runs were created. */
  readonly untilMicros?: number | undefined;
  /** The id of a run, to list runs created before it, the nearest first. */
  readonly startingAfter?: string | undefined;
  /** The id of a run, to list runs created after it, the nearest first. */
  readonly endingBefore?: string | undefined;
  readonly limit: number;
}

/** Limits how much of a page is read. */
export interface PageLimits {
  /** Maximum size of the outputs; the first run is read in any case. */
  readonly maxBytes: number;
  /** Receives the size of the outputs before they are read, and may throw. */
  readonly onBytes: (bytes: number) => void;
}

/** Reads these runs in order: the first one, and as many more as fit into the limit. */
export async function readRuns(
  db: Db,
  ids: readonly string[],
  { maxBytes, onBytes }: PageLimits,
): Promise<StoredRun[]> {
  const { fittingIds, bytes } = await selectFittingRuns(db, ids, maxBytes);
  onBytes(bytes);
  const rows = await selectRunsWithIds(db, fittingIds).execute();
  const runs = new Map(rows.map(row => [row.id, parseStoredRun(row)]));
  return fittingIds.flatMap(id => runs.get(id) ?? []);
}

/**
 * Reads the ids of a page, nearest to the cursor first. Returns undefined if the cursor is not a
 * run of the user. Needs time proportional to the size of the page. No two runs of a user have the
 * same `createdAt`. /
 */
export async function readPageIds(db: Db, { userId, status, limit, ...filter }: RunPageQuery) {
  const { startingAfter, endingBefore } = filter;
  let { fromMicros = 0, untilMicros = Number.MAX_SAFE_INTEGER } = filter;
  const cursor = startingAfter ?? endingBefore;
  if (cursor !== undefined) {
    const run = await selectUserRun(db, userId, cursor).select('createdAt').executeTakeFirst();
    if (!run) return undefined;
    if (endingBefore === undefined) {
      untilMicros = Math.min(untilMicros, run.createdAt);
    } else {
      fromMicros = Math.max(fromMicros, run.createdAt + 1);
    }
  }

  let query = db.selectFrom('runs').select('id').where('userId', '=', userId);
  if (status !== undefined) query = query.where('status', '=', status);
  const rows = await query
    .where('createdAt', '>=', fromMicros)
    .where('createdAt', '<', untilMicros)
    .orderBy('createdAt', endingBefore === undefined ? 'desc' : 'asc')
    .limit(limit + 1)
    .execute();
  return { ids: rows.slice(0, limit).map(({ id }) => id), hasMore: rows.length > limit };
}

/**
 * Returns the runs that fit, by their sizes alone, so that outputs that don't fit are never read.
 */
async function selectFittingRuns(db: Db, ids: readonly string[], maxBytes: number) {
  const size = sql<number>`octet_length("outputs")`.as('bytes');
  const rows = await selectRunsWithIds(db, ids).clearSelect().select(['id', size]).execute();
  const sizes = new Map(rows.map(({ id, bytes }) => [id, bytes]));

  const fittingIds: string[] = [];
  let sum = 0;
  for (const id of ids) {
    const bytes = sizes.get(id) ?? 0;
    if (fittingIds.length > 0 && sum + bytes > maxBytes) break;
    sum += bytes;
    fittingIds.push(id);
  }

  return { fittingIds, bytes: sum };
}
