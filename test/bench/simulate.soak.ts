import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { availableParallelism, tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import autocannon from 'autocannon';
import pg from 'pg';
import { openStore } from '../../src/service/index.ts';
import { startPostgres } from '../support/databases/postgres.ts';
import { findPostmaster, readCpuTimes } from './processor-time.ts';
import { type Costs, predict, predictFleets } from './scale-model.ts';
import {
  buildCreation,
  createHeaders,
  type Server,
  sampleVersion,
  startServer,
} from './service-server.ts';

const SECONDS = 5;
const OPEN = 24;
const COUNTS = [1, 2, 4];

interface Measured {
  readonly perSecond: number;
  /** Milliseconds of processors for each creation. */
  readonly client: number;
  readonly node: number;
  readonly database: number;
  /** The number of statements for each creation. */
  readonly statements: number;
  /** Processors that nobody else used meanwhile. */
  readonly processors: number;
}

/**
 * Measures what creations cost with one instance, predicts how many several make, and measures
 * these too. What one machine can't show is predicted only. `--json` prints the comparison alone.
 */
export default async function simulate(): Promise<void> {
  const directory = await mkdtemp(path.join(tmpdir(), 'promptrun-simulate-'));
  const cluster = await startPostgres({ durable: true });
  const servers: Server[] = [];
  try {
    const start = async (): Promise<Server> => {
      const server = await startServer(
        'service',
        path.join(directory, String(servers.length)),
        cluster.url,
      );
      servers.push(server);
      return server;
    };

    await start();
    const key = await createKeyIn(path.join(directory, 'keys'), cluster.url);
    const measure = (open: number) => measureServers(servers, { key, database: cluster.url, open });
    await measure(OPEN);
    const alone = await measure(1);

    const measurements = new Map<number, Measured>();
    for (const count of COUNTS) {
      while (servers.length < count) await start();
      measurements.set(count, await measure(OPEN));
    }

    const costs = runCosts(alone, measurements.get(1) ?? alone);
    const rows = [...measurements].map(([instances, { perSecond, processors }]) => ({
      instances,
      predicted: Math.round(predict(costs, { ...HERE, instances, processors }).perSecond),
      measured: Math.round(perSecond),
    }));
    if (process.argv.includes('--json')) {
      process.stdout.write(`[\n${rows.map(row => JSON.stringify(row)).join(',\n')}\n]\n`);
    } else {
      report(costs, rows);
    }
  } finally {
    for (const { process } of servers) process.kill('SIGKILL');
    cluster.remove();
    await rm(directory, { recursive: true, force: true });
  }
}

const HERE = { open: OPEN, users: 1, isOneMachine: true };

/** The unit of processor times in `/proc`, in ticks per second. */
const TICKS = 100;

async function createKeyIn(dataDir: string, database: string): Promise<string> {
  const store = await openStore({ dataDir, databaseUrl: database });
  try {
    return (await store.createKey({ user: 'ann', credits: 1_000_000_000 })).key;
  } finally {
    await store.close();
  }
}

interface Load {
  readonly key: string;
  readonly database: string;
  readonly open: number;
}

async function measureServers(
  servers: readonly Server[],
  { key, database, open }: Load,
): Promise<Measured> {
  const [first] = servers as [Server];
  const body = buildCreation(await sampleVersion({ ...first, key }));
  const used = servers.slice(0, open);
  const before = await measureNow(used, database);
  const results = await Promise.all(
    used.map(server =>
      autocannon({
        url: `${server.url}/runs`,
        method: 'POST',
        headers: createHeaders({ ...server, key }),
        body,
        connections: open / used.length,
        duration: SECONDS,
      }),
    ),
  );

  const after = await measureNow(used, database);
  const refused = results.reduce((sum, { non2xx, errors }) => sum + non2xx + errors, 0);
  if (refused > 0) throw new Error(`${refused} creations were refused`);

  const made = results.reduce((sum, result) => sum + result['2xx'], 0);
  const spent = (of: keyof typeof before): number => after[of] - before[of];
  const others = Math.max(0, spent('all') - spent('client') - spent('node') - spent('database'));

  return {
    perSecond: made / SECONDS,
    client: spent('client') / made,
    node: spent('node') / made,
    database: spent('database') / made,
    statements: spent('commits') / made,
    processors: Math.max(0.1, availableParallelism() - others / spent('at')),
  };
}

/** Milliseconds of processors used so far, and commits. */
async function measureNow(servers: readonly Server[], database: string) {
  const postmaster = await findPostmaster(database);
  const times = await Promise.all(
    servers.map(server => readCpuTimes(server.process.pid, postmaster)),
  );
  const { user, system } = process.cpuUsage();
  const client = new pg.Client(database);
  await client.connect();

  try {
    // Figures of other connections arrive up to a second later.
    await sleep(1100);
    const { rows } = await client.query<{ commits: string }>(
      'select xact_commit as commits from pg_stat_database where datname = current_database()',
    );
    return {
      client: (user + system) / 1000,
      node: 1000 * times.reduce((sum, [node]) => sum + node, 0),
      database: 1000 * (times[0]?.[1] ?? 0),
      commits: Number(rows[0]?.commits),
      all: (await readMachineMs()) ?? 0,
      at: performance.now(),
    };
  } finally {
    await client.end();
  }
}

/**
 * Milliseconds of processors that the whole machine has used so far; undefined if that is not
 * known.
 */
async function readMachineMs(): Promise<number | undefined> {
  const text = await readFile('/proc/stat', 'utf8').catch(() => undefined);
  const [user = 0, nice = 0, system = 0, , , irq = 0, softirq = 0] =
    text?.split('\n', 1)[0]?.trim().split(/\s+/).slice(1).map(Number) ?? [];
  return text === undefined ? undefined : (1000 * (user + nice + system + irq + softirq)) / TICKS;
}

/** Returns the costs for the model, from creations one after the other and from many at a time. */
function runCosts(alone: Measured, together: Measured): Costs {
  // The cost of a statement shows where fewer runs share one.
  const fewer = alone.statements - together.statements;
  const node = splitCosts(alone.node, together.node, fewer, alone.statements);
  const database = splitCosts(alone.database, together.database, fewer, alone.statements);
  const busy = alone.client + alone.node + alone.database;

  return {
    client: together.client,
    node: node.run,
    nodeStatement: node.statement,
    databaseRow: database.run / ROWS,
    databaseStatement: database.statement,
    commit: Math.max(0, 1000 / alone.perSecond - busy) / alone.statements,
  };
}

/** Rows that a creation writes in statements: one when it is made, one when it ends. */
const ROWS = 2;

function splitCosts(alone: number, together: number, fewer: number, statements: number) {
  const statement =
    fewer > 0 ? Math.min(Math.max(0, (alone - together) / fewer), alone / statements) : 0;
  return { statement, run: alone - statement * statements };
}

interface Row {
  readonly instances: number;
  readonly predicted: number;
  readonly measured: number;
}

function report(costs: Costs, rows: readonly Row[]): void {
  const printLine = (text: string): void => void process.stdout.write(`${text}\n`);
  printLine(`a creation, in milliseconds: ${JSON.stringify(costs, (_, cost) => roundCost(cost))}`);
  printLine('instances on this machine   predicted   measured');

  for (const { instances, predicted, measured } of rows) {
    printLine(`${String(instances).padEnd(28)}${`${predicted}/s`.padEnd(12)}${measured}/s`);
  }

  printLine('instances on their own machines, 64 users   predicted   database   busiest instance');

  for (const { instances, perSecond, database, instance } of predictFleets(costs)) {
    const [ofDatabase, ofInstance] = [database, instance].map(
      share => `${Math.round(100 * share)} %`,
    );
    printLine(
      `${String(instances).padEnd(47)}${`${Math.round(perSecond)}/s`.padEnd(12)}${ofDatabase?.padEnd(11)}${ofInstance}`,
    );
  }
}

function roundCost(cost: unknown): unknown {
  return typeof cost === 'number' ? Number(cost.toFixed(3)) : cost;
}
