import { CompiledQuery } from 'kysely';
import type { RunOutcome } from '../runs/run-records.ts';
import type { Db } from '../writer.ts';

export interface RunEnding {
  readonly id: string;
  readonly worker: string;
  readonly outcome: RunOutcome;
}

const END_RUNS_SQL = `
with input as (
  select * from unnest($1::text[], $2::text[], $3::bigint[], $4::text[], $5::text[], $6::boolean[], $10::bigint[])
    as i(id, status, tokens, outputs, warnings, forgets, "endedAt")
), runs_before as (
  select r.id, r."userId", r.credits, i.status from input i join runs r on r.id = i.id
), ended_runs as (
  update runs r set
    status = i.status, tokens = i.tokens, outputs = i.outputs, warnings = i.warnings, worker = null,
    "endedAt" = i."endedAt",
    credits = case when i.status = 'failed' then 0 else r.credits end,
    request = case when i.forgets or r.status = 'queued' then null else r.request end
  from input i
  where r.id = i.id and r.status in ('queued', 'running') and r.worker = $7
  returning r.id
), new_media as (
  select m.* from json_to_recordset($8::json)
    as m(id text, "runId" text, "mediaType" text, size bigint, "createdAt" bigint)
  join ended_runs e on e.id = m."runId"
), inserted_media as (
  insert into media (id, "runId", "mediaType", size, "createdAt", "userId")
  select m.id, m."runId", m."mediaType", m.size, m."createdAt", b."userId" from new_media m join runs_before b on b.id = m."runId"
), inserted_usage as (
  insert into "runUsage" ("runId", model, input, output, cached, cost, estimated, answers)
  select u."runId", u.model, u.input, u.output, u.cached, u.cost, u.estimated, u.answers
  from json_to_recordset($9::json) as u("runId" text, model text, input bigint, output bigint, cached bigint,
    cost bigint, estimated bigint, answers bigint)
  join ended_runs e on e.id = u."runId"
), changes as (
  select b."userId",
    sum(case when b.status = 'failed' then b.credits else 0 end) as credits,
    sum(coalesce((select sum(m.size) from new_media m where m."runId" = b.id), 0)) as bytes
  from runs_before b join ended_runs e on e.id = b.id group by b."userId"
), changed_users as (
  update users u set credits = u.credits + c.credits, "mediaBytes" = u."mediaBytes" + c.bytes
  from changes c where u.id = c."userId" and (c.credits > 0 or c.bytes > 0)
)
select id from ended_runs`;

/** Ends runs of one worker, and returns the ids of those that had not ended before. */
export async function endAllAtOnce(
  db: Db,
  items: readonly RunEnding[],
): Promise<ReadonlySet<string>> {
  const [{ worker }] = items as readonly [RunEnding, ...RunEnding[]];
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
    JSON.stringify(
      items.flatMap(({ id, outcome: { usage } }) => (usage ? [{ runId: id, ...usage }] : [])),
    ),
    outcomes.map(({ endedAt }) => endedAt ?? null),
  ];
  const { rows } = await db.executeQuery<{ id: string }>(
    CompiledQuery.raw(END_RUNS_SQL, parameters),
  );

  return new Set(rows.map(({ id }) => id));
}
