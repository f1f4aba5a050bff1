/** SQL that differs between the kinds of database. */
interface SqlDialect {
  /** The type of a primary key that the database numbers by itself. */
  readonly serialKeyType: string;
  /** The suffix of a table definition that stores rows in the order of their key. */
  readonly clusteredByKey: string;
  /** Statements for this kind of database only, run at the end of the first step. */
  readonly extraStatements: string;
}

/**
 * Returns the steps of the schema, which are applied once each, in order. A released step never
 * changes. `tables.ts` describes the columns. SQLite treats `bigint` as `integer`.
 */
export function buildMigrations({
  serialKeyType,
  clusteredByKey,
  extraStatements,
}: SqlDialect): readonly string[] {
  return [
    // Step 1
    `
    create table users (
      id ${serialKeyType},
      name text not null unique,
      plan text not null,
      credits bigint not null
    );
    create table keys (
      id text primary key,
      hash text not null unique,
      "userId" bigint not null references users (id),
      "createdAt" bigint not null,
      "lastUsedAt" bigint
    ) ${clusteredByKey};
    create table prompts (
      id text primary key,
      slug text not null unique,
      "latestVersionId" text,
      uses bigint not null default 0
    ) ${clusteredByKey};
    create table "promptVersions" (
      id text primary key,
      "promptId" text not null references prompts (id),
      title text not null,
      description text not null,
      model text not null,
      source text not null,
      "publishedAt" bigint not null
    );
    create index "promptVersionsByTime" on "promptVersions" ("promptId", "publishedAt");
    create table runs (
      id text primary key,
      "userId" bigint not null references users (id),
      "promptVersionId" text not null,
      name text not null,
      status text not null,
      "createdAt" bigint not null,
      credits bigint not null,
      tokens bigint not null default 0,
      outputs text not null default '[]',
      request text,
      worker text,
      deaths bigint not null default 0
    );
    create index "runsByTime" on runs ("userId", "createdAt");
    create index "runsByStatus" on runs ("userId", status, "createdAt");
    create index "runsInProgress" on runs (worker, "createdAt") where status in ('queued', 'running');
    create table media (
      id text primary key,
      "runId" text not null,
      "mediaType" text not null,
      size bigint not null,
      "createdAt" bigint not null
    ) ${clusteredByKey};
    create index "mediaByTime" on media ("createdAt");
    create table settings (
      key text primary key,
      value text not null
    ) ${clusteredByKey};
    ${extraStatements}
    `,
    // Step 2
    `
    alter table users add column "lastRunAt" bigint not null default 0;
    alter table users add column "mediaBytes" bigint not null default 0;
    alter table runs add column model text not null default '';
    alter table runs add column "inputBytes" bigint not null default 0;
    alter table media add column "userId" bigint not null default 0;
    update users set "lastRunAt" = coalesce((select max("createdAt") from runs where "userId" = users.id), 0);
    update media set "userId" = coalesce((select "userId" from runs where runs.id = media."runId"), 0);
    update users set "mediaBytes" = coalesce((select sum(size) from media where media."userId" = users.id), 0);
    create table "idempotencyKeys" (
      "userId" bigint not null references users (id),
      key text not null,
      digest text not null,
      "runId" text not null,
      "createdAt" bigint not null,
      primary key ("userId", key)
    ) ${clusteredByKey};
    create index "idempotencyKeysByTime" on "idempotencyKeys" ("createdAt");
    create index "runsQueued" on runs ("userId", worker, "createdAt") where status = 'queued';
    `,
    // Step 3
    'alter table "promptVersions" add column unlisted bigint not null default 0',
    // Step 4
    'alter table "promptVersions" add column parsed text',
    // Step 5
    'create index "runsWithInputs" on runs ("userId", "createdAt") where "inputBytes" > 0',
    // Step 6
    `
    create table "runUsage" (
      "runId" text primary key references runs (id),
      model text not null,
      input bigint,
      output bigint,
      cached bigint,
      cost bigint,
      estimated bigint not null
    ) ${clusteredByKey};
    `,
    // Step 7
    'alter table keys add column author bigint not null default 0',
    // Step 8
    `
    alter table runs add column warnings text;
    alter table "runUsage" add column answers bigint not null default 1;
    `,
    // Step 9
    `
    alter table runs add column "textBytes" bigint not null default 0;
    create index "runsInProgressByUser" on runs ("userId", status, "textBytes") where status in ('queued', 'running');
    create table labels (
      "promptId" text not null references prompts (id),
      label text not null,
      "promptVersionId" text not null references "promptVersions" (id),
      primary key ("promptId", label)
    ) ${clusteredByKey};
    create table "labelMoves" (
      id ${serialKeyType},
      "promptId" text not null references prompts (id),
      label text not null,
      "fromVersionId" text,
      "toVersionId" text,
      "movedAt" bigint not null,
      "movedBy" text not null
    );
    create index "labelMovesByPrompt" on "labelMoves" ("promptId", id);
    `,
    // Step 10
    'alter table runs add column "endedAt" bigint',
  ];
}
