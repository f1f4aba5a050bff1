import type { Db } from '../writer.ts';
import { RUN_COLUMNS } from './run-records.ts';

/** Selects a run, if it belongs to the user. */
export function selectUserRun(db: Db, userId: number, id: string) {
  return db.selectFrom('runs').where('id', '=', id).where('userId', '=', userId);
}

/** Selects these runs, of any user. */
export function selectRunsWithIds(db: Db, ids: readonly string[]) {
  return db.selectFrom('runs').select(RUN_COLUMNS).where('id', 'in', toNonEmpty(ids));
}

/** Returns a list for `in`, which must not be empty in PostgreSQL; '' is not the id of any run. */
export function toNonEmpty(ids: readonly string[]): readonly string[] {
  return ids.length === 0 ? [''] : ids;
}
