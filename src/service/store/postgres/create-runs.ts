import { CompiledQuery } from 'kysely';
import { getErrorCode } from '../../../utils/error-utils.ts';
import { encodeRequest, IDEMPOTENCY_LIFETIME_MS, TEXT_SHARE } from '../runs/run-creation.ts';
import { CreationRefusedError, type NewRun, type UserLimits } from '../runs/run-records.ts';
import { DatabaseUnavailableError } from '../store-errors.ts';
import type { Db } from '../writer.ts';
import type { UseCounter } from './use-counter.ts';

export interface RunInsert {
  readonly run: NewRun;
  readonly limits: UserLimits;
  readonly now: number;
}

/** The id of a created run, or why it was not created. */
export type RunCreationResult = string | CreationRefusedError;

/**
 * Rethrows an error unless the database refused the statement: separate statements may then
 * succeed. /
 */
export function rethrowUnlessRefused(error: unknown): undefined {
  if (error instanceof DatabaseUnavailableError) throw error;
  // Refusals have a code: a unique key, a serialisation failure, a deadlock, or one invalid item
  // among several.
  if (getErrorCode(error) === undefined) throw error;
}

/**
 * Returns the statement that creates all runs of a user or none.
 *
 * @param lockClause the clause that locks users, which either waits for or skips locked ones
 */
const createRunsSql = (lockClause: string): string => `
with input as (
  select * from unnest(
    $1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::bigint[], $7::bigint[], $8::bigint[], $9::text[],
    $10::text[], $11::text[], $12::text[], $13::text[], $14::boolean[], $15::bigint[]
  ) with ordinality as i(
    id, "promptVersionId", name, model, status, credits, "inputBytes", "textBytes", worker,
    request, "keyId", "idempotencyKey", digest, "needsSpace", "userId", place
  )
),
-- Runs that the same idempotency keys have created before.
earlier_runs as (
  select i.id, k."runId", k.digest = i.digest as "sameDigest"
  from input i join "idempotencyKeys" k on k."userId" = i."userId" and k.key = i."idempotencyKey"
  where k."createdAt" >= $16
),
new_runs as (
  select i.*, row_number() over (partition by i."userId" order by i.place) as turn
  from input i where not exists (select from earlier_runs e where e.id = i.id)
),
-- What each user's new runs need together.
demand as (
  select "userId", count(*) as runs, coalesce(sum(credits), 0) as credits, coalesce(sum("inputBytes"), 0) as bytes,
    coalesce(sum("textBytes"), 0) as texts, bool_or("needsSpace") as space,
    count(*) filter (where status = 'queued') as queued
  from new_runs group by "userId"
),
lockable_users as (
  select id from users where id = any($15::bigint[]) ${lockClause}
),
-- Charges a user for all new runs, or for none if a key, a version, the credits, the queue or the space refuses one.
charged_users as (
  update users u set
    credits = u.credits - d.credits,
    "mediaBytes" = u."mediaBytes" + d.bytes,
    "lastRunAt" = greatest(u."lastRunAt" + d.runs, $17::bigint + d.runs - 1)
  from demand d join lockable_users l on l.id = d."userId"
  where u.id = d."userId" and u.plan <> 'none' and u.credits >= d.credits
    and not exists (
      select from new_runs n where n."userId" = u.id and n."keyId" is not null
        and not exists (select from keys k where k.id = n."keyId" and k."userId" = u.id)
    )
    and not exists (
      select from new_runs n where n."userId" = u.id and not exists (
        select from "promptVersions" v join prompts p on p.id = v."promptId"
        where v.id = n."promptVersionId" and (p."latestVersionId" is not null or v.unlisted = 1)
      )
    )
    and (d.queued = 0 or d.queued + (
      select count(*) from runs r where r."userId" = u.id and r.status = 'queued'
    ) <= $18::bigint)
    and (case
      when d.space then u."mediaBytes" + d.bytes + d.texts + (
        select coalesce(sum(r."textBytes"), 0) from runs r
        where r."userId" = u.id and r.status in ('queued', 'running')
      ) < $19::bigint
      when d.texts > 0 then d.texts + (
        select coalesce(sum(r."textBytes"), 0) from runs r
        where r."userId" = u.id and r.status in ('queued', 'running')
      ) <= greatest($19::bigint - u."mediaBytes", $20::bigint)
      else true
    end)
  returning u.id as "userId", u."lastRunAt" - d.runs as "before"
),
inserted_runs as (
  insert into runs (
    id, "userId", "promptVersionId", name, model, status, "createdAt", credits, "inputBytes", "textBytes", worker, request
  )
  select n.id, n."userId", n."promptVersionId", n.name, n.model, n.status, c."before" + n.turn, n.credits,
    n."inputBytes", n."textBytes", n.worker, n.request
  from new_runs n join charged_users c using ("userId")
),
inserted_keys as (
  insert into "idempotencyKeys" ("userId", key, digest, "runId", "createdAt")
  select n."userId", n."idempotencyKey", n.digest, n.id, $21::bigint from new_runs n join charged_users c using ("userId")
  where n."idempotencyKey" is not null
)
select i.id, e."runId" as "earlierRunId", e."sameDigest", c."userId" is not null as "isCreated"
from input i left join earlier_runs e on e.id = i.id left join charged_users c on c."userId" = i."userId" order by i.place`;

/** Waits for a user whom another process has locked. */
export const CREATE_RUNS = createRunsSql('for no key update');

/** Creates no run of a user whom another process has locked. */
export const CREATE_RUNS_UNLESS_LOCKED = createRunsSql('for no key update skip locked');

interface CreatedRow {
  readonly id: string;
  /** The run that the idempotency key created before; null if there is none. */
  readonly earlierRunId: string | null;
  /** True if that run was created with the same body. */
  readonly sameDigest: boolean | null;
  readonly isCreated: boolean;
}

/**
 * Creates runs, and returns undefined for those that can't be created together with the others of
 * their user.
 */
export async function createAllAtOnce(
  db: Db,
  useCounter: UseCounter,
  items: readonly RunInsert[],
  statement: string,
): Promise<readonly (RunCreationResult | undefined)[]> {
  const [{ limits, now }] = items as readonly [RunInsert, ...RunInsert[]];
  const runs = dropRepeatedKeys(items).map(item => item.run);
  const parameters = [
    runs.map(({ id }) => id),
    runs.map(({ promptVersionId }) => promptVersionId),
    runs.map(({ name }) => name),
    runs.map(({ model }) => model),
    runs.map(({ status }) => status),
    runs.map(({ credits }) => credits),
    runs.map(({ inputBytes }) => inputBytes),
    runs.map(({ textBytes }) => textBytes),
    runs.map(({ worker }) => worker),
    runs.map(({ request }) => encodeRequest(request)),
    runs.map(({ keyId }) => keyId ?? null),
    runs.map(({ idempotency }) => idempotency?.key ?? null),
    runs.map(({ idempotency }) => idempotency?.digest ?? null),
    runs.map(({ needsSpace }) => needsSpace),
    runs.map(({ userId }) => userId),
    now - IDEMPOTENCY_LIFETIME_MS,
    now * 1000,
    limits.maxQueuedRuns,
    limits.maxMediaBytes,
    Math.floor(limits.maxMediaBytes * TEXT_SHARE),
    now,
  ];
  const result = await db
    .executeQuery<CreatedRow>(CompiledQuery.raw(statement, parameters))
    .catch(rethrowUnlessRefused);
  const rows = new Map(result?.rows.map(row => [row.id, row]));

  return items.map(({ run }) => {
    const row = rows.get(run.id);
    if (row && row.earlierRunId !== null) {
      return row.sameDigest === true ? row.earlierRunId : new CreationRefusedError('key');
    }

    if (!row?.isCreated) return undefined;

    useCounter.add(run.promptId);
    return run.id;
  });
}

/**
 * Leaves out runs whose idempotency key an earlier item has. They are created alone, and then get
 * the run of that item.
 */
function dropRepeatedKeys(items: readonly RunInsert[]): readonly RunInsert[] {
  const seenKeys = new Set<string>();
  return items.filter(({ run: { userId, idempotency } }) => {
    if (idempotency === undefined) return true;
    const key = `${userId} ${idempotency.key}`;
    const isFirst = !seenKeys.has(key);
    seenKeys.add(key);
    return isFirst;
  });
}
