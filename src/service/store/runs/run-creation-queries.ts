import { sql } from 'kysely';
import type { RunStatus } from '../../../wire/index.ts';
import { PreparedQuery, type ValueOf } from '../prepared-query.ts';
import { selectRunnableVersion } from '../prompts-store.ts';
import type { Db } from '../writer.ts';
import type { EndColumns } from './run-endings.ts';
import type { Idempotency, NewRun, NewRunColumn } from './run-records.ts';

interface NewRunRow extends Pick<NewRun, NewRunColumn | 'textBytes'>, Omit<EndColumns, 'status'> {
  readonly status: RunStatus;
  readonly createdAt: number;
  readonly request: string | null;
}

export const CLAIM_IDEMPOTENCY_KEY = new PreparedQuery(
  (
    db,
    value: ValueOf<
      Idempotency & { userId: number; runId: string; now: number; expiredBefore: number }
    >,
  ) =>
    db
      .insertInto('idempotencyKeys')
      .values({
        userId: value('userId'),
        key: value('key'),
        digest: value('digest'),
        runId: value('runId'),
        createdAt: value('now'),
      })
      .onConflict(conflict =>
        conflict
          .columns(['userId', 'key'])
          .doUpdateSet(({ ref }) => ({
            digest: ref('excluded.digest'),
            runId: ref('excluded.runId'),
            createdAt: ref('excluded.createdAt'),
          }))
          .where('idempotencyKeys.createdAt', '<', value('expiredBefore')),
      ),
);

export const FIND_CALLER = new PreparedQuery((db, value: ValueOf<{ userId: number }>) =>
  selectCallerWithPlan(db, value('userId')),
);

export const FIND_CALLER_WITH_API_KEY = new PreparedQuery(
  (db, value: ValueOf<{ userId: number; keyId: string }>) =>
    selectCallerWithPlan(db, value('userId'))
      .innerJoin('keys', 'keys.userId', 'users.id')
      .where('keys.id', '=', value('keyId')),
);

function selectCallerWithPlan(db: Db, userId: number) {
  return db
    .selectFrom('users')
    .select('users.id')
    .where('users.id', '=', userId)
    .where('plan', '<>', 'none');
}

export const FIND_RUNNABLE_VERSION = new PreparedQuery(
  (db, value: ValueOf<{ promptVersionId: string }>) =>
    selectRunnableVersion(db, value('promptVersionId')).select('promptVersions.id'),
);

/** Sums up the input texts of a user's unfinished runs. */
export const SUM_UNFINISHED_TEXTS = new PreparedQuery((db, value: ValueOf<{ userId: number }>) =>
  db
    .selectFrom('runs')
    .select(sql<number>`cast(coalesce(sum("textBytes"), 0) as bigint)`.as('bytes'))
    .where('userId', '=', value('userId'))
    .where(sql<boolean>`status in ('queued', 'running')`),
);

interface ReservedValues {
  readonly userId: number;
  readonly credits: number;
  readonly inputBytes: number;
  /** Maximum size of the media that the user has already, in bytes. */
  readonly maxMediaBytes: number;
  readonly nowMicros: number;
}

export const RESERVE_CREDITS_AND_SPACE = new PreparedQuery((db, value: ValueOf<ReservedValues>) =>
  db
    .updateTable('users')
    .set(({ eb, ref }) => ({
      credits: eb('credits', '-', value('credits')),
      mediaBytes: eb('mediaBytes', '+', value('inputBytes')),
      // The list of runs is ordered by this time, so it grows even if the clock stands still or goes
      // back.
      lastRunAt: sql<number>`case when ${ref('lastRunAt')} < ${value('nowMicros')} then ${value('nowMicros')} else ${ref('lastRunAt')} + 1 end`,
    }))
    .where('id', '=', value('userId'))
    .where('credits', '>=', value('credits'))
    .where('mediaBytes', '<=', value('maxMediaBytes'))
    .returning('lastRunAt'),
);

export const INSERT_RUN = new PreparedQuery((db, value: ValueOf<NewRunRow>) =>
  db.insertInto('runs').values({
    id: value('id'),
    userId: value('userId'),
    promptVersionId: value('promptVersionId'),
    name: value('name'),
    model: value('model'),
    credits: value('credits'),
    inputBytes: value('inputBytes'),
    textBytes: value('textBytes'),
    status: value('status'),
    worker: value('worker'),
    createdAt: value('createdAt'),
    request: value('request'),
    tokens: value('tokens'),
    outputs: value('outputs'),
    warnings: value('warnings'),
    endedAt: value('endedAt'),
  }),
);

export const COUNT_USE = new PreparedQuery((db, value: ValueOf<{ promptId: string }>) =>
  db
    .updateTable('prompts')
    .set(({ eb }) => ({ uses: eb('uses', '+', 1) }))
    .where('id', '=', value('promptId')),
);
