import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import pg from 'pg';
import {
  findPostgresPrograms,
  type PostgresCluster,
  startPostgres,
} from '../support/databases/postgres.ts';
import { addRuns, type Measured, measureServer } from './service.bench.ts';
import { buildCreation, type Server, sampleVersion, startServer } from './service-server.ts';

const ROWS = 1_000_000;

/**
 * Creations and pages of the list on PostgreSQL, by one instance and by three, beside SQLite in the
 * same run.
 */
export default async function benchDatabases(): Promise<void> {
  if (findPostgresPrograms() === undefined) {
    process.stdout.write('PostgreSQL is not installed: nothing is measured of it.\n');
    return;
  }

  const directory = await mkdtemp(path.join(tmpdir(), 'promptrun-bench-'));
  const cluster = await startPostgres({ durable: true });

  const servers: Server[] = [];
  const start = async (name: string, database?: string): Promise<Server> => {
    const server = await startServer('service', path.join(directory, name), database);
    servers.push(server);
    return server;
  };

  try {
    await measureAll(directory, cluster, start);
  } finally {
    for (const { process } of servers) process.kill('SIGKILL');
    cluster.remove();
    await rm(directory, { recursive: true, force: true });
  }
}

type Start = (name: string, database?: string) => Promise<Server>;

async function measureAll(
  directory: string,
  cluster: PostgresCluster,
  start: Start,
): Promise<void> {
  await addRuns(path.join(directory, 'sqlite'), ROWS);
  const sqlite = await start('sqlite');
  const one = await start('one', cluster.url);
  await fillPostgres(cluster.url, ROWS);
  const version = await sampleVersion(sqlite);

  const page = await measureServer(sqlite, '/runs');
  report('GET /runs, a million rows, SQLite', page, page);
  report('the same, PostgreSQL', await measureServer(one, '/runs'), page);

  const created = await measureServer(sqlite, '/runs', buildCreation(version));
  report('POST /runs, SQLite', created, created);
  report(
    'the same, PostgreSQL, 1 instance',
    await measureServer(one, '/runs', buildCreation(version)),
    created,
  );

  const three = [one, await start('two', cluster.url), await start('three', cluster.url)];
  const together = await Promise.all(
    three.map(server => measureServer(server, '/runs', buildCreation(version))),
  );
  report('the same, PostgreSQL, 3 instances', addUp(together), created);
}

function addUp(measured: readonly Measured[]): Measured {
  return {
    perSecond: measured.reduce((sum, { perSecond }) => sum + perSecond, 0),
    p99: Math.max(...measured.map(({ p99 }) => p99)),
  };
}

function report(name: string, measured: Measured, sqlite: Measured): void {
  const ratio = (measured.perSecond / sqlite.perSecond).toFixed(2);
  const perSecond = `${Math.round(measured.perSecond)}/s`.padStart(9);
  process.stdout.write(
    `${name.padEnd(36)}${perSecond}  p99 ${measured.p99} ms  ${ratio} of SQLite\n`,
  );
}

/** Copies SQLite's rows into a database that has the tables. */
async function fillPostgres(url: string, rows: number): Promise<void> {
  const client = new pg.Client(url);
  await client.connect();
  try {
    await client.query(
      `insert into "runs" ("id", "userId", "promptVersionId", "name", "model", "status", "createdAt", "credits", "tokens", "outputs")
       select gen_random_uuid()::text, (select min("id") from "users"), '00000000-0000-4000-8000-000000000000', 'Hello', 'echo',
         case when i % 1000 = 0 then 'failed' else 'succeeded' end,
         (extract(epoch from now())::bigint - i) * 1000000, 1, 9, '[{"type":"text","data":"Hello, Ann!"}]'
       from generate_series(1, $1) as i`,
      [rows],
    );
    await client.query('analyze "runs"');
  } finally {
    await client.end();
  }
}
