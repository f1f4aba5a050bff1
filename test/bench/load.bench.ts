import { execFileSync } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import autocannon from 'autocannon';
import { openStore } from '../../src/service/index.ts';
import { CREATE_RUNS } from '../../src/service/store/postgres/create-runs.ts';
import { findPostgresPrograms, startPostgres } from '../support/databases/postgres.ts';
import { findPostmaster, readCpuTimes } from './processor-time.ts';
import {
  buildCreation,
  createHeaders,
  type Server,
  sampleVersion,
  startServer,
} from './service-server.ts';

const SECONDS = 5;
const AT_ONCE = 24;
const MANY_AT_ONCE = 64;
const ROUNDS = 3;

/** The time between two requests of the neighbour, in milliseconds. */
const NEIGHBOUR_EVERY_MS = 20;

/** Measures what one user's load costs, and how it slows others, on SQLite and on PostgreSQL. */
export default async function benchLoad(): Promise<void> {
  const directory = await mkdtemp(path.join(tmpdir(), 'promptrun-load-'));
  const cluster =
    findPostgresPrograms() === undefined ? undefined : await startPostgres({ durable: true });

  const servers: Server[] = [];
  const start = async (name: string, database?: string): Promise<Users> => {
    const dataDir = path.join(directory, name);
    const server = await startServer('service', dataDir, database);
    servers.push(server);
    return { server, keys: await createKeys(dataDir, database) };
  };

  try {
    await measureNeighbour('SQLite', await start('sqlite'));
    if (!cluster) return;
    const users = await start('postgres', cluster.url);
    await measureNeighbour('PostgreSQL', users);
    await measureStatements(users, cluster.url);
  } finally {
    for (const { process } of servers) process.kill('SIGKILL');
    cluster?.remove();
    await rm(directory, { recursive: true, force: true });
  }
}

interface Users {
  readonly server: Server;
  readonly keys: readonly string[];
}

/** Keys of users beside the first. */
async function createKeys(dataDir: string, database: string | undefined): Promise<string[]> {
  const store = await openStore({ dataDir, databaseUrl: database });
  try {
    const keys: string[] = [];
    for (const user of ['ann', 'bob', 'eve']) keys.push((await store.createKey({ user })).key);
    return keys;
  } finally {
    await store.close();
  }
}

/** Measures how long `GET /me` takes a user while another user creates runs. */
async function measureNeighbour(
  store: string,
  { server, keys: [neighbour = ''] }: Users,
): Promise<void> {
  const body = buildCreation(await sampleVersion(server));
  const quiet = await measureTypicalAnswerMs(server, neighbour, sleep(SECONDS * 1000));
  const busy = await measureTypicalAnswerMs(
    server,
    neighbour,
    measureCreationRate(server, server.key, body, { apart: true }),
  );
  printLine(
    `GET /me of a neighbour, ${store}`,
    `p95 ${busy.toFixed(1)} ms, ${quiet.toFixed(1)} ms without load`,
  );
}

async function measureTypicalAnswerMs(
  server: Server,
  key: string,
  load: Promise<unknown>,
): Promise<number> {
  const times: number[] = [];
  const over = new AbortController();
  const ended = load.finally(() => over.abort());

  while (!over.signal.aborted) {
    const startedAt = performance.now();
    const answer = await fetch(`${server.url}/me`, { headers: createHeaders({ ...server, key }) });
    await answer.arrayBuffer();
    times.push(performance.now() - startedAt);
    await sleep(NEIGHBOUR_EVERY_MS);
  }

  await ended;
  return times.sort((a, b) => a - b)[Math.floor(times.length * 0.95)] ?? 0;
}

interface Round {
  readonly pgbench: number;
  readonly one: number;
  readonly many: number;
  readonly four: number;
  /** Creations of the user with the fewest over those of the user with the most. */
  readonly share: number;
  readonly node: number;
  readonly postgres: number;
}

/**
 * Creations a second over those that pgbench makes with the same statement, and what one costs:
 * medians of rounds.
 */
async function measureStatements(users: Users, database: string): Promise<void> {
  const body = buildCreation(await sampleVersion(users.server));
  const postmaster = await findPostmaster(database);
  const rounds: Round[] = [];
  while (rounds.length < ROUNDS) rounds.push(await measureRound(users, body, database, postmaster));
  const median = (of: (round: Round) => number): number =>
    rounds.map(of).sort((a, b) => a - b)[Math.floor(ROUNDS / 2)] ?? 0;
  const formatPerSecond = (of: (round: Round) => number): string =>
    `${Math.round(median(of))}/s`.padStart(7);

  const compare = (name: string, part: keyof Round, whole: keyof Round, base: string): void =>
    printLine(
      name,
      `${formatPerSecond(round => round[part])}  ${median(round => round[part] / round[whole]).toFixed(2)} of ${base}`,
    );

  printLine(
    `pgbench, the statement of a creation, ${AT_ONCE} connections`,
    formatPerSecond(({ pgbench }) => pgbench),
  );
  compare(`POST /runs, ${AT_ONCE} connections`, 'one', 'pgbench', 'pgbench');
  compare(`POST /runs, ${MANY_AT_ONCE} connections`, 'many', 'one', `${AT_ONCE} connections`);
  compare(`POST /runs, ${AT_ONCE} connections of 4 users`, 'four', 'one', 'one user');
  printLine(
    'the slowest of the 4 users',
    `${median(({ share }) => share).toFixed(2)} of the fastest`,
  );

  // Only Linux has /proc, which the figures come from.
  if (process.platform !== 'linux') return;

  const [node, postgres] = [median(({ node }) => node), median(({ postgres }) => postgres)];
  printLine(
    'processor time of a creation',
    `Node ${node.toFixed(2)} ms, PostgreSQL ${postgres.toFixed(2)} ms`,
  );
}

async function measureRound(
  { server, keys }: Users,
  body: string,
  database: string,
  postmaster: number,
): Promise<Round> {
  const bench = measureStatementRate(database);
  const before = await readCpuTimes(server.process.pid, postmaster);
  const one = await measureCreationRate(server, server.key, body);
  const after = await readCpuTimes(server.process.pid, postmaster);
  const findCost = (at: 0 | 1): number => ((after[at] - before[at]) / (one * SECONDS)) * 1000;
  const many = await measureCreationRate(server, server.key, body, { connections: MANY_AT_ONCE });
  const four = await Promise.all(
    [server.key, ...keys].map(key =>
      measureCreationRate(server, key, body, { connections: AT_ONCE / 4 }),
    ),
  );

  return {
    pgbench: bench,
    one,
    many,
    four: four.reduce((all, rate) => all + rate, 0),
    share: Math.min(...four) / Math.max(...four),
    node: findCost(0),
    postgres: findCost(1),
  };
}

interface LoadOptions {
  readonly connections?: number;
  /** True if the load comes from a separate thread, so that this one can measure something else. */
  readonly apart?: boolean;
}

/** Creations a second. */
async function measureCreationRate(
  server: Server,
  key: string,
  body: string,
  { connections = AT_ONCE, apart = false }: LoadOptions = {},
): Promise<number> {
  const result = await autocannon({
    url: `${server.url}/runs`,
    method: 'POST',
    headers: createHeaders({ ...server, key }),
    body,
    connections,
    duration: SECONDS,
    ...(apart && { workers: 1 }),
  });
  if (result.non2xx > 0 || result.errors > 0) {
    throw new Error(`${result.non2xx} creations were refused`);
  }
  return result.requests.average;
}

/** Transactions a second of the statement by itself, on one user's row. */
function measureStatementRate(database: string): number {
  const now = Date.now();
  const values: readonly (string | number)[] = [
    'array[gen_random_uuid()::text]',
    `array[(select "latestVersionId" from prompts where slug = 'hello')]`,
    "array['Hello']",
    "array['echo']",
    // One that has ended: nobody ends those of pgbench.
    "array['succeeded']",
    'array[1]',
    'array[0]',
    'array[3]',
    'array[null]',
    `array['{"textInputs":{"name":"Ann"}}']`,
    'array[(select id from keys where "userId" = 1 limit 1)]',
    'array[null]',
    'array[null]',
    'array[false]',
    'array[1]',
    0,
    now * 1000,
    10_000,
    2 ** 31,
    2 ** 25,
    now,
  ];
  const script = CREATE_RUNS.replaceAll(/\$(\d+)/g, (_, place: string) =>
    String(values[Number(place) - 1]),
  ).replaceAll(/\s+/g, ' ');
  const program = path.join(findPostgresPrograms() ?? '', 'pgbench');
  const flags = [
    '-n',
    '-M',
    'prepared',
    '-c',
    String(AT_ONCE),
    '-j',
    '2',
    '-T',
    String(SECONDS),
    '-f',
    '-',
    database,
  ];

  const report = execFileSync(program, flags, {
    input: script,
    encoding: 'utf8',
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  return Number(/tps = ([\d.]+)/.exec(report)?.[1]);
}

function printLine(name: string, result: string): void {
  process.stdout.write(`${name.padEnd(56)}${result}\n`);
}
