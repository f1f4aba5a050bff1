import { CompiledQuery } from 'kysely';
import { getErrorCode } from '../../../utils/error-utils.ts';
import { encodeRequest, IDEMPOTENCY_LIFETIME_MS, TEXT_SHARE } from '../runs/run-creation.ts';
import { CreationRefused, type NewRun, type UserLimits } from '../runs/run-records.ts';
import { DatabaseUnavailableError } from '../store-errors.ts';
import type { Db } from '../writer.ts';
import type { CollectedUses } from './collected-uses.ts';

export interface RunInsert {
  readonly run: NewRun;
  readonly limits: UserLimits;
  readonly now: number;
}

/** The id of a created run, or why it was not created. */
export type RunCreationResult = string | CreationRefused;

/**
 * Rethrows an error unless the database refused the statement, because the single steps may then
 * succeed.
 */
export function fallBackIfRefused(error: unknown): undefined {
  if (error instanceof DatabaseUnavailableError) throw error;
  // Refusals have a code: a unique key, a serialisation failure, a deadlock, or one invalid item
  // among several.
  if (getErrorCode(error) === undefined) throw error;
}

/**
 * Returns the statement that creates all runs of a user or none.
 *
 * @param locked the way in which it waits for a locked user
 */
const createRunsSql = (locked: string): string => `
with input as (
  select * from unnest(
    $1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::bigint[], $7::bigint[], $8::bigint[], $9::text[],
    $10::text[], $11::text[], $12::text[], $13::text[], $14::boolean[], $15::bigint[]
  ) with ordinality as i(
    id, "promptVersionId", name, model, status, credits, "inputBytes", "textBytes", worker,
    request, "keyId", "idempotencyKey", digest, "needsSpace", "userId", place
  )
), former as (
  select i.id, k."runId", k.digest = i.digest as same
  from input i join "idempotencyKeys" k on k."userId" = i."userId" and k.key = i."idempotencyKey"
  where k."createdAt" >= $16
), fresh as (
  select i.*, row_number() over (partition by i."userId" order by i.place) as turn
  from input i where not exists (select from former f where f.id = i.id)
), wanted as (
  select "userId", count(*) as runs, coalesce(sum(credits), 0) as credits, coalesce(sum("inputBytes"), 0) as bytes,
    coalesce(sum("textBytes"), 0) as texts, bool_or("needsSpace") as space,
    count(*) filter (where status = 'queued') as queued
  from fresh group by "userId"
), free as (
  select id from users where id = any($15::bigint[]) ${locked}
), taken as (
  update users u set
    credits = u.credits - w.credits,
    "mediaBytes" = u."mediaBytes" + w.bytes,
    "lastRunAt" = greatest(u."lastRunAt" + w.runs, $17::bigint + w.runs - 1)
  from wanted w join free on free.id = w."userId"
  where u.id = w."userId" and u.plan <> 'none' and u.credits >= w.credits
    and not exists (
      select from fresh f where f."userId" = u.id and f."keyId" is not null
        and not exists (select from keys k where k.id = f."keyId" and k."userId" = u.id)
    )
    and not exists (
      select from fresh f where f."userId" = u.id and not exists (
        select from "promptVersions" v join prompts p on p.id = v."promptId"
        where v.id = f."promptVersionId" and (p."latestVersionId" is not null or v.unlisted = 1)
      )
    )
    and (w.queued = 0 or w.queued + (
      select count(*) from runs r where r."userId" = u.id and r.status = 'queued'
    ) <= $18::bigint)
    and (case
      when w.space then u."mediaBytes" + w.bytes + w.texts + (
        select coalesce(sum(r."textBytes"), 0) from runs r
        where r."userId" = u.id and r.status in ('queued', 'running')
      ) < $19::bigint
      when w.texts > 0 then w.texts + (
        select coalesce(sum(r."textBytes"), 0) from runs r
        where r."userId" = u.id and r.status in ('queued', 'running')
      ) <= greatest($19::bigint - u."mediaBytes", $20::bigint)
      else true
    end)
  returning u.id as "userId", u."lastRunAt" - w.runs as "before"
), made as (
  insert into runs (
    id, "userId", "promptVersionId", name, model, status, "createdAt", credits, "inputBytes", "textBytes", worker, request
  )
  select f.id, f."userId", f."promptVersionId", f.name, f.model, f.status, t."before" + f.turn, f.credits,
    f."inputBytes", f."textBytes", f.worker, f.request
  from fresh f join taken t using ("userId")
), claimed as (
  insert into "idempotencyKeys" ("userId", key, digest, "runId", "createdAt")
  select f."userId", f."idempotencyKey", f.digest, f.id, $21::bigint from fresh f join taken t using ("userId")
  where f."idempotencyKey" is not null
)
select i.id, f."runId", f.same, t."userId" is not null as taken
from input i left join former f on f.id = i.id left join taken t on t."userId" = i."userId" order by i.place`;

/** Waits for a user whom another process has locked. */
export const CREATE = createRunsSql('for no key update');

/** Creates no run of a user whom another process has locked. */
export const CREATE_UNLESS_LOCKED = createRunsSql('for no key update skip locked');

interface CreatedRow {
  readonly id: string;
  /** The run that the idempotency key created before; null if there is none. */
  readonly runId: string | null;
  readonly same: boolean | null;
  readonly taken: boolean;
}

/**
 * Creates runs, and returns undefined for those that can't be created together with the others of
 * their user.
 */
export async function createAllAtOnce(
  db: Db,
  uses: CollectedUses,
  items: readonly RunInsert[],
  statement: string,
): Promise<readonly (RunCreationResult | undefined)[]> {
  const [{ limits, now }] = items as readonly [RunInsert, ...RunInsert[]];
  const runs = withoutRepeatedKeys(items).map(item => item.run);
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
    limits.queued,
    limits.mediaBytes,
    Math.floor(limits.mediaBytes * TEXT_SHARE),
    now,
  ];
  const creating = db.executeQuery<CreatedRow>(CompiledQuery.raw(statement, parameters));
  const answer = await creating.catch(fallBackIfRefused);
  const created = new Map(answer?.rows.map(row => [row.id, row]));

  return items.map(({ run }) => {
    const { runId, same, taken } = created.get(run.id) ?? { runId: null, same: null, taken: false };
    if (runId !== null) return same === true ? runId : new CreationRefused('key');
    if (!taken) return undefined;
    uses.add(run.promptId);
    return run.id;
  });
}

/**
 * Leaves out all but the first of those with the same idempotency key, which wait for the first
 * one's answer.
 */
function withoutRepeatedKeys(items: readonly RunInsert[]): readonly RunInsert[] {
  const seen = new Set<string>();
  return items.filter(({ run: { userId, idempotency } }) => {
    if (idempotency === undefined) return true;
    const key = `${userId} ${idempotency.key}`;
    return !seen.has(key) && seen.add(key);
  });
}
