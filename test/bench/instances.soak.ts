import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import type { RunPage, RunRow } from '../../src/wire/index.ts';
import { startPostgres } from '../support/databases/postgres.ts';

const RUNS = Number(process.env['RUNS'] ?? 10_000);
const INSTANCES = 3;
const AT_ONCE = 24;
const KILL_EVERY_MS = 4000;

/** The signal that ends instances; SIGTERM is a restart by an operator. */
const SIGNAL = process.env['SIGNAL'] === 'SIGTERM' ? 'SIGTERM' : 'SIGKILL';

/**
 * The build that those run which are ended, such as an earlier version's: a rolling upgrade under
 * load.
 */
const FORMER_COMMAND = process.env['FORMER_COMMAND'] ?? 'bin/promptrun.js';

/** The credits of a new user. */
const CREDITS = 1_000_000;

interface Instance {
  process: ChildProcess;
  /** Ends in /v1. */
  url: string;
}

/**
 * Runs three instances on one database: one of them is ended every few seconds and started again,
 * and the database is restarted once. Counts what became of the runs.
 */
export default async function soakInstances(): Promise<void> {
  const directory = await mkdtemp(path.join(tmpdir(), 'promptrun-instances-'));
  const cluster = await startPostgres();
  const startFormer = () => startInstance(directory, cluster.url, FORMER_COMMAND);
  const first = await startFormer();
  const instances: Instance[] = [first.instance];
  while (instances.length < INSTANCES) instances.push((await startFormer()).instance);

  try {
    const headers = { authorization: `Bearer ${first.key}` };
    const finished = new AbortController();
    const killing = killNowAndThen(instances, directory, cluster.url, finished.signal);
    const acknowledged = await createAll(instances, headers, async () => {
      cluster.stop();
      await sleep(3000);
      cluster.start();
    });

    finished.abort();
    await killing;
    await report(instances, headers, acknowledged);
  } finally {
    for (const { process } of instances) process.kill('SIGKILL');
    cluster.remove();
    await rm(directory, { recursive: true, force: true });
  }
}

async function startInstance(
  directory: string,
  database: string,
  build = 'bin/promptrun.js',
): Promise<{ instance: Instance; key: string }> {
  const command = path.resolve(build);
  const child = spawn(
    process.execPath,
    [command, 'serve', '--port', '0', '-q', '--sync-window', '1s'],
    {
      env: {
        PATH: process.env['PATH'],
        HOME: directory,
        PROMPTRUN_DATA_DIR: path.join(directory, randomUUID()),
        PROMPTRUN_DATABASE_URL: database,
      },
      stdio: ['ignore', 'pipe', 'ignore'],
    },
  );
  const lines = createInterface(child.stdout);
  const [listening] = (await Promise.race([once(lines, 'line'), once(child, 'exit')])) as [
    string | number,
  ];

  // While the database is away none can be started.
  if (typeof listening !== 'string') throw new Error('an instance could not be started');

  const key = await Promise.race([once(lines, 'line'), sleep(10_000)]);
  return {
    instance: { process: child, url: listening.replace('listening on ', '') },
    key: String(key?.[0] ?? '').replace('key: ', ''),
  };
}

async function killNowAndThen(
  instances: Instance[],
  directory: string,
  database: string,
  signal: AbortSignal,
): Promise<void> {
  for (let turn = 0; !signal.aborted; turn = (turn + 1) % INSTANCES) {
    await sleep(KILL_EVERY_MS, undefined, { signal }).catch(() => {});
    if (signal.aborted) return;
    instances[turn]?.process.kill(SIGNAL);
    instances[turn] = await restartInstance(directory, database);
  }
}

async function restartInstance(directory: string, database: string): Promise<Instance> {
  for (;;) {
    const started = await startInstance(directory, database).catch(() => undefined);
    if (started) return started.instance;
    await sleep(500);
  }
}

type Headers = Record<string, string>;

async function createAll(
  instances: readonly Instance[],
  headers: Headers,
  restartDatabase: () => Promise<void>,
): Promise<Set<string>> {
  const acknowledged = new Set<string>();
  const body = await createSandboxRun(instances, headers);
  let next = 0;
  const createOneAfterAnother = async (): Promise<void> => {
    while (next < RUNS) {
      next += 1;
      if (next === Math.floor(RUNS / 2)) await restartDatabase();
      acknowledged.add(await createOnce(instances, headers, body));
    }
  };

  await Promise.all(Array.from({ length: AT_ONCE }, createOneAfterAnother));
  return acknowledged;
}

async function createSandboxRun(instances: readonly Instance[], headers: Headers): Promise<string> {
  const answer = await fetch(`${instances[0]?.url}/prompts/publish?q=sandbox`, { headers });
  const { data } = (await answer.json()) as { data: { rows: { promptVersionId: string }[] } };
  return JSON.stringify({ promptVersionId: data.rows[0]?.promptVersionId, inputs: {} });
}

/** Sends a creation to one instance after the other until one acknowledges it. */
async function createOnce(
  instances: readonly Instance[],
  headers: Headers,
  body: string,
): Promise<string> {
  const key = randomUUID();
  for (let attempt = Math.floor(Math.random() * INSTANCES); ; attempt += 1) {
    const url = `${instances[attempt % INSTANCES]?.url}/runs`;
    const answer = await fetch(url, {
      method: 'POST',
      headers: { ...headers, 'idempotency-key': key },
      body,
    }).then(
      async answer => (await answer.json()) as { data?: { runId?: string } | null },
      () => undefined,
    );
    if (answer?.data?.runId) return answer.data.runId;
    await sleep(50);
  }
}

async function report(
  instances: readonly Instance[],
  headers: Headers,
  acknowledged: ReadonlySet<string>,
): Promise<void> {
  const seen = await Promise.all(instances.map(instance => waitForSettledRuns(instance, headers)));
  const [rows = new Map<string, RunRow>()] = seen;
  const lost = [...acknowledged].filter(id => !rows.has(id)).length;
  const failed = [...rows.values()].filter(row => row.runStatus === 'failed').length;
  const spent = [...rows.values()].reduce((sum, row) => sum + (row.credits ?? 0), 0);
  const balances = await Promise.all(instances.map(({ url }) => fetchBalance(url, headers)));
  const same = seen.every(other => JSON.stringify([...other]) === JSON.stringify([...rows]));
  process.stdout.write(
    `${INSTANCES} instances: ${acknowledged.size} runs acknowledged, ${lost} lost, ${rows.size - acknowledged.size} too many, ` +
      `${failed} failed; credits astray: ${balances.map(credits => CREDITS - spent - credits).join(', ')}; seen the same: ${same}\n`,
  );
  const exact = balances.every(credits => credits === CREDITS - spent);
  if (lost > 0 || rows.size !== acknowledged.size || !exact || !same) {
    throw new Error('runs or credits are wrong');
  }
}

/** Returns every run as an instance shows it, once none is in progress. */
async function waitForSettledRuns(
  { url }: Instance,
  headers: Headers,
): Promise<Map<string, RunRow>> {
  for (const status of ['queued', 'running']) {
    while ((await fetchPage(url, headers, `status=${status}`)).rows.length > 0) await sleep(250);
  }

  const rows = new Map<string, RunRow>();
  for (let after = '', more = true; more; ) {
    const { rows: found, hasMore } = await fetchPage(url, headers, `limit=50${after}`);
    for (const row of found) rows.set(row.runId, row);
    more = hasMore;
    after = `&startingAfter=${found.at(-1)?.runId}`;
  }

  return rows;
}

async function fetchPage(url: string, headers: Headers, query: string): Promise<RunPage> {
  const answer = await fetch(`${url}/runs?${query}`, { headers });
  return ((await answer.json()) as { data: RunPage }).data;
}

async function fetchBalance(url: string, headers: Headers): Promise<number> {
  const answer = await fetch(`${url}/me/credits`, { headers });
  return ((await answer.json()) as { data: { credits: number } }).data.credits;
}
