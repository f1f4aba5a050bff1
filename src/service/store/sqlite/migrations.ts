import { DataDirectoryError } from '../errors.ts';
import type { SqliteDatabase } from './binding.ts';

/**
 * Each step is applied once, in order; a step that was released is never changed. What is added here is added to
 * PostgreSQL's as well.
 */
const MIGRATIONS: readonly string[] = [
  `
  create table users (
    id integer primary key,
    name text not null unique,
    plan text not null,
    credits integer not null
  );
  create table keys (
    id text primary key,
    hash text not null unique,
    userId integer not null references users (id),
    createdAt integer not null,
    lastUsedAt integer
  ) without rowid;
  create table prompts (
    id text primary key,
    slug text not null unique,
    latestVersionId text,
    uses integer not null default 0
  ) without rowid;
  create table promptVersions (
    id text primary key,
    promptId text not null references prompts (id),
    title text not null,
    description text not null,
    model text not null,
    source text not null,
    publishedAt integer not null
  );
  create index promptVersionsByTime on promptVersions (promptId, publishedAt);
  create table runs (
    id text primary key,
    userId integer not null references users (id),
    promptVersionId text not null,
    name text not null,
    status text not null,
    createdAt integer not null,
    credits integer not null,
    tokens integer not null default 0,
    outputs text not null default '[]',
    request text,
    worker text,
    deaths integer not null default 0
  );
  create index runsByTime on runs (userId, createdAt);
  create index runsByStatus on runs (userId, status, createdAt);
  create index runsInProgress on runs (worker, createdAt) where status in ('queued', 'running');
  create table media (
    id text primary key,
    runId text not null,
    mediaType text not null,
    size integer not null,
    createdAt integer not null
  ) without rowid;
  create index mediaByTime on media (createdAt);
  create table settings (
    key text primary key,
    value text not null
  ) without rowid;
  -- What the planner is to reckon with: without it, it reads a user's every run to find those of a rare status.
  analyze;
  insert into sqlite_stat1 (tbl, idx, stat) values
    ('runs', 'runsByTime', '1000000 100000 1'),
    ('runs', 'runsByStatus', '1000000 100000 1000 1');
  analyze sqlite_schema;
  `,
  `
  alter table users add column lastRunAt integer not null default 0;
  alter table users add column mediaBytes integer not null default 0;
  alter table runs add column model text not null default '';
  alter table runs add column inputBytes integer not null default 0;
  alter table media add column userId integer not null default 0;
  update users set lastRunAt = coalesce((select max(createdAt) from runs where userId = users.id), 0);
  update media set userId = coalesce((select userId from runs where runs.id = media.runId), 0);
  update users set mediaBytes = coalesce((select sum(size) from media where media.userId = users.id), 0);
  create table idempotencyKeys (
    userId integer not null references users (id),
    key text not null,
    digest text not null,
    runId text not null,
    createdAt integer not null,
    primary key (userId, key)
  ) without rowid;
  create index idempotencyKeysByTime on idempotencyKeys (createdAt);
  create index runsQueued on runs (userId, worker, createdAt) where status = 'queued';
  `,
  `
  alter table promptVersions add column unlisted integer not null default 0;
  `,
  'alter table promptVersions add column parsed text;',
  'create index runsWithInputs on runs (userId, createdAt) where inputBytes > 0;',
  `
  create table runUsage (
    runId text primary key references runs (id),
    model text not null,
    input integer,
    output integer,
    cached integer,
    cost integer,
    estimated integer not null
  ) without rowid;
  `,
  'alter table keys add column author integer not null default 0;',
];

/**
 * Brings the database to the newest form; another process that does the same at once is waited for.
 *
 * @returns whether it was of an older form, not new
 */
export function migrate(database: SqliteDatabase, file: string): boolean {
  if (versionOf(database) === MIGRATIONS.length) return false;
  database.exec('begin immediate');
  try {
    const version = versionOf(database);
    if (version > MIGRATIONS.length) throw new DataDirectoryError(tooNew(file));
    for (const step of MIGRATIONS.slice(version)) database.exec(step);
    database.exec(`pragma user_version = ${MIGRATIONS.length}`);
    database.exec('commit');
    return version > 0 && version < MIGRATIONS.length;
  } catch (error) {
    try {
      database.exec('rollback');
    } catch {
      // A full disk ends the transaction by itself.
    }
    throw error;
  }
}

/** Whether the file holds tables, but not those that every version of the store had. */
export function isForeign(database: SqliteDatabase): boolean {
  const names = database.prepare("select name from sqlite_schema where type = 'table'").all() as {
    name: string;
  }[];
  return names.length > 0 && !names.some(({ name }) => name === 'promptVersions');
}

function versionOf(database: SqliteDatabase): number {
  const [row] = database.prepare('pragma user_version').all() as { user_version: number }[];
  return row?.user_version ?? 0;
}

function tooNew(file: string): string {
  return `${file} was written by a newer promptrun; update promptrun, or set PROMPTRUN_DATA_DIR to another directory`;
}
