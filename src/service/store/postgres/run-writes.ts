import { CompiledQuery } from 'kysely';
import { errorCode } from '../../../files/error-utils.ts';
import { Batches } from '../batches-store.ts';
import { IDEMPOTENCY_LIFETIME_MS, requestJson, TEXT_SHARE, writeNewRun } from '../runs/run-creation.ts';
import { endRun } from '../runs/run-endings.ts';
import {
  CreationRefused,
  type NewRun,
  type RunOutcome,
  type RunWrites,
  type UserLimits,
} from '../runs/run-records.ts';
import { DatabaseUnavailableError } from '../store-errors.ts';
import type { Db, Writer } from '../writer.ts';

interface RunInsert {
  readonly run: NewRun;
  readonly limits: UserLimits;
  readonly now: number;
}

interface Ending {
  readonly id: string;
  readonly worker: string;
  readonly outcome: RunOutcome;
}

/** Maximum number of creations or endings in one statement. */
const MAX_BATCH = 64;
/** Interval of writing the uses of prompts. Written with each creation, they would make all users wait for each other. */
const WRITE_USES_EVERY_MS = 1000;

/** The id of a created run, or why it was not created. */
type Created = string | CreationRefused;

/**
 * Creates and ends runs in batches of one statement, which is its own transaction. All users share the statements that
 * create runs, except while another process has locked a user, who must not keep the others waiting.
 */
export function runWrites(db: Db, writer: Writer): RunWrites {
  const uses = collectedUses(db);
  const shared = new Batches<RunInsert, Created | undefined>(
    items => createTogether(db, uses, items, CREATE_UNLESS_LOCKED),
    MAX_BATCH,
  );
  const own = new Batches<RunInsert, Created>(items => createAll(db, writer, uses, items), MAX_BATCH);
  const endings = new Batches<Ending, boolean>(items => endAll(db, writer, items), MAX_BATCH);
  return {
    async create(run: NewRun, limits: UserLimits, now: number): Promise<string> {
      const creation = { run, limits, now };
      const user = String(run.userId);
      // A run that has already ended is rare, and takes more than one statement.
      const result = run.outcome
        ? await createAlone(writer, creation)
        : ((own.isWorking(user) ? undefined : await shared.add('', creation, user)) ??
          (await own.add(user, creation)));
      if (result instanceof CreationRefused) throw result;
      return result;
    },
    end: (id: string, userId: number, worker: string, outcome: RunOutcome): Promise<boolean> => {
      const changesUser = outcome.status === 'failed' || outcome.media.length > 0;
      return endings.add(changesUser ? String(userId) : '', { id, worker, outcome });
    },
    pendingUses: (promptId: string): number => uses.pending(promptId),
    flush: () => uses.flush(),
  };
}

/** Creates runs of one user, one by one if they can't be created together. */
async function createAll(
  db: Db,
  writer: Writer,
  uses: CollectedUses,
  items: readonly RunInsert[],
): Promise<readonly Created[]> {
  const together = await createTogether(db, uses, items, CREATE);
  const results: Created[] = [];
  for (const [index, item] of items.entries()) {
    results.push(together[index] ?? (await createAlone(writer, item)));
  }
  return results;
}

/** Creates a run statement by statement, which names the reason of a refusal. */
async function createAlone(
  writer: Writer,
  { run, limits, now }: RunInsert,
): Promise<string | CreationRefused> {
  try {
    return await writer.write(db => writeNewRun(db, run, limits, now));
  } catch (error) {
    if (error instanceof CreationRefused) return error;
    throw error;
  }
}

/** Ends runs, one by one if they can't be ended together. Returns for each if it had not ended before. */
async function endAll(db: Db, writer: Writer, items: readonly Ending[]): Promise<readonly boolean[]> {
  const ended = await endTogether(db, items).catch(fallBackIfRefused);
  if (ended) return items.map(({ id }) => ended.has(id));
  const results: boolean[] = [];
  for (const { id, worker, outcome } of items) {
    results.push(await writer.write(db => endRun(db, id, outcome, worker)));
  }
  return results;
}

/** Rethrows an error unless the database refused the statement, because the single steps may then succeed. */
function fallBackIfRefused(error: unknown): undefined {
  if (error instanceof DatabaseUnavailableError) throw error;
  // Refusals have a code: a unique key, a serialisation failure, a deadlock, or one invalid item among several.
  if (errorCode(error) === undefined) throw error;
}

/** Returns the statement that creates all runs of a user or none. @param locked the way in which it waits for a locked user */
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
const CREATE_UNLESS_LOCKED = createRunsSql('for no key update skip locked');

interface CreatedRow {
  readonly id: string;
  /** The run that the idempotency key created before; null if there is none. */
  readonly runId: string | null;
  readonly same: boolean | null;
  readonly taken: boolean;
}

/** Creates runs, and returns undefined for those that can't be created together with the others of their user. */
async function createTogether(
  db: Db,
  uses: CollectedUses,
  items: readonly RunInsert[],
  statement: string,
): Promise<readonly (Created | undefined)[]> {
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
    runs.map(({ request }) => requestJson(request)),
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

/** Leaves out all but the first of those with the same idempotency key, which wait for the first one's answer. */
function withoutRepeatedKeys(items: readonly RunInsert[]): readonly RunInsert[] {
  const seen = new Set<string>();
  return items.filter(({ run: { userId, idempotency } }) => {
    if (idempotency === undefined) return true;
    const key = `${userId} ${idempotency.key}`;
    return !seen.has(key) && seen.add(key);
  });
}

const END_RUNS_SQL = `
with input as (
  select * from unnest($1::text[], $2::text[], $3::bigint[], $4::text[], $5::text[], $6::boolean[], $10::bigint[])
    as i(id, status, tokens, outputs, warnings, forgets, "endedAt")
), before as (
  select r.id, r."userId", r.credits, i.status from input i join runs r on r.id = i.id
), ended as (
  update runs r set
    status = i.status, tokens = i.tokens, outputs = i.outputs, warnings = i.warnings, worker = null,
    "endedAt" = i."endedAt",
    credits = case when i.status = 'failed' then 0 else r.credits end,
    request = case when i.forgets or r.status = 'queued' then null else r.request end
  from input i
  where r.id = i.id and r.status in ('queued', 'running') and r.worker = $7
  returning r.id
), made as (
  select m.* from json_to_recordset($8::json)
    as m(id text, "runId" text, "mediaType" text, size bigint, "createdAt" bigint)
  join ended e on e.id = m."runId"
), kept as (
  insert into media (id, "runId", "mediaType", size, "createdAt", "userId")
  select m.id, m."runId", m."mediaType", m.size, m."createdAt", b."userId" from made m join before b on b.id = m."runId"
), used as (
  insert into "runUsage" ("runId", model, input, output, cached, cost, estimated, answers)
  select u."runId", u.model, u.input, u.output, u.cached, u.cost, u.estimated, u.answers
  from json_to_recordset($9::json) as u("runId" text, model text, input bigint, output bigint, cached bigint,
    cost bigint, estimated bigint, answers bigint)
  join ended e on e.id = u."runId"
), given as (
  select b."userId",
    sum(case when b.status = 'failed' then b.credits else 0 end) as credits,
    sum(coalesce((select sum(m.size) from made m where m."runId" = b.id), 0)) as bytes
  from before b join ended e on e.id = b.id group by b."userId"
), paid as (
  update users u set credits = u.credits + g.credits, "mediaBytes" = u."mediaBytes" + g.bytes
  from given g where u.id = g."userId" and (g.credits > 0 or g.bytes > 0)
)
select id from ended`;

/** Ends runs of one worker, and returns the ids of those that had not ended before. */
async function endTogether(db: Db, items: readonly Ending[]): Promise<ReadonlySet<string>> {
  const [{ worker }] = items as readonly [Ending, ...Ending[]];
  const outcomes = items.map(({ outcome }) => outcome);
  const parameters = [
    items.map(({ id }) => id),
    outcomes.map(({ status }) => status),
    outcomes.map(({ tokens }) => tokens),
    outcomes.map(({ outputs }) => JSON.stringify(outputs)),
    outcomes.map(({ warnings = [] }) => (warnings.length === 0 ? null : JSON.stringify(warnings))),
    outcomes.map(({ forgetsRequest = false }) => forgetsRequest),
    worker,
    JSON.stringify(outcomes.flatMap(({ media }) => media)),
    JSON.stringify(items.flatMap(({ id, outcome: { usage } }) => (usage ? [{ runId: id, ...usage }] : []))),
    outcomes.map(({ endedAt }) => endedAt ?? null),
  ];
  const { rows } = await db.executeQuery<{ id: string }>(CompiledQuery.raw(END_RUNS_SQL, parameters));
  return new Set(rows.map(({ id }) => id));
}

type CollectedUses = ReturnType<typeof collectedUses>;

/** Counts uses of prompts, and writes them at intervals. */
function collectedUses(db: Db) {
  let counts = new Map<string, number>();
  let timer: NodeJS.Timeout | undefined;
  const flush = async (): Promise<void> => {
    clearTimeout(timer);
    timer = undefined;
    const written = counts;
    counts = new Map();
    // Always in the same order, so that two processes that do this at once don't deadlock.
    for (const [id, uses] of [...written].sort(([a], [b]) => (a < b ? -1 : 1))) {
      await db
        .updateTable('prompts')
        .set(({ eb }) => ({ uses: eb('uses', '+', uses) }))
        .where('id', '=', id)
        .execute();
    }
  };
  return {
    add(promptId: string): void {
      counts.set(promptId, (counts.get(promptId) ?? 0) + 1);
      // Counts lost to a database fault are acceptable: uses only rank the search.
      timer ??= setTimeout(() => void flush().catch(() => {}), WRITE_USES_EVERY_MS).unref();
    },
    pending: (promptId: string): number => counts.get(promptId) ?? 0,
    flush: () => flush().catch(() => {}),
  };
}
