import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { startPostgres } from '../support/databases/postgres.ts';

const TURNS = Number(process.env['TURNS'] ?? 20);
const INSTANCES = 3;
const CALLERS = 16;
const BEFORE_MS = 1500;
const SILENT_MS = 2000;
const AFTER_MS = 3000;
const GIVEN_UP_MS = 60_000;

/** The credits of a new user. */
const CREDITS = 1_000_000;

/** The credits of a run. */
const COST = 2;

/**
 * Loses the primary of a database under load again and again, killed and silent in turn, and
 * promotes its synchronous standby. Counts what became of the runs, and how often the model was
 * asked for each.
 */
export default async function soakFailovers(): Promise<void> {
  const sums = {
    acknowledged: 0,
    lost: 0,
    askedTwice: 0,
    unended: 0,
    wrongCredits: 0,
    slowestMs: 0,
  };
  for (let turn = 0; turn < TURNS; turn += 1) {
    const result = await failOver(turn % 2 === 0 ? 'kill' : 'freeze');
    process.stdout.write(`${JSON.stringify({ turn, ...result })}\n`);
    for (const key of ['acknowledged', 'lost', 'askedTwice', 'unended', 'wrongCredits'] as const) {
      sums[key] += result[key];
    }
    sums.slowestMs = Math.max(sums.slowestMs, result.backAfterMs);
  }
  process.stdout.write(`${JSON.stringify({ failovers: TURNS, ...sums })}\n`);
}

async function failOver(how: 'kill' | 'freeze') {
  const directory = mkdtempSync(path.join(tmpdir(), 'promptrun-failovers-'));
  const prompts = path.join(directory, 'prompts');
  mkdirSync(prompts);
  writeFileSync(path.join(prompts, 'ask.prompt'), '---\nmodel: ollama/tiny\n---\n{{id}}\n');
  const primary = await startPostgres({ durable: true });
  const standby = await primary.standby();

  const model = await startCountingModel();
  const children: ChildProcess[] = [];
  try {
    const hosts = [primary.url, standby.url].map(url => new URL(url).host).join(',');
    const start = () =>
      startInstance(directory, prompts, `postgres://postgres@${hosts}/postgres`, model);
    const first = await start();
    const instances = [first, ...(await Promise.all(Array.from({ length: INSTANCES - 1 }, start)))];
    children.push(...instances.map(({ child }) => child));
    const headers = { authorization: `Bearer ${first.key}` };
    const urls = instances.map(({ url }) => url);
    const version = await findVersion(urls[0] ?? '', headers);
    const acknowledged = new Map<string, string>();
    const over = new AbortController();
    const callers = Array.from({ length: CALLERS }, async () => {
      while (!over.signal.aborted) {
        const id = randomUUID();
        acknowledged.set(id, await createOnce(urls, headers, { version, id }));
      }
    });

    await sleep(BEFORE_MS);
    primary[how]();
    await sleep(how === 'freeze' ? SILENT_MS : 0);
    standby.promote();
    const promotedAt = performance.now();
    await waitUntilReady(urls);
    const backAfterMs = Math.round(performance.now() - promotedAt);
    await sleep(AFTER_MS);
    over.abort();
    await Promise.all(callers);

    return { how, backAfterMs, ...(await countOutcomes(standby.url, acknowledged, model.asked)) };
  } finally {
    for (const child of children) child.kill('SIGKILL');
    model.server.close();
    standby.remove();
    primary.remove();
    rmSync(directory, { recursive: true, force: true });
  }
}

interface CountingModel {
  readonly server: Server;
  readonly host: string;
  /** The number of times that it was asked, by the text of the prompt. */
  readonly asked: Map<string, number>;
}

async function startCountingModel(): Promise<CountingModel> {
  const asked = new Map<string, number>();
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const body = JSON.parse(await text(request)) as { messages: { content: string }[] };
    const prompt = body.messages.at(-1)?.content ?? '';
    asked.set(prompt, (asked.get(prompt) ?? 0) + 1);
    await sleep(Math.random() * 500);
    const message = { role: 'assistant', content: prompt };
    const choices = [{ index: 0, message, finish_reason: 'stop' }];
    response.setHeader('content-type', 'application/json');
    response.end(
      JSON.stringify({ id: 'x', object: 'chat.completion', created: 1, model: 'tiny', choices }),
    );
  };

  const server = createServer((request, response) => void answer(request, response)).listen(
    0,
    '127.0.0.1',
  );
  await once(server, 'listening');
  return { server, host: `127.0.0.1:${(server.address() as AddressInfo).port}`, asked };
}

async function startInstance(
  directory: string,
  prompts: string,
  database: string,
  { host }: CountingModel,
) {
  const flags = ['--port', '0', '-q', '--sync-window', '1s', '--prompts', prompts];
  const child = spawn(process.execPath, [path.resolve('bin/promptrun.js'), 'serve', ...flags], {
    env: {
      PATH: process.env['PATH'],
      HOME: directory,
      PROMPTRUN_DATA_DIR: path.join(directory, randomUUID()),
      PROMPTRUN_DATABASE_URL: database,
      OLLAMA_HOST: host,
    },
    stdio: ['ignore', 'pipe', 'ignore'],
  });

  let said = '';
  child.stdout.setEncoding('utf8').on('data', (piece: string) => {
    said += piece;
  });

  while (!said.includes('\npage: ')) {
    if (child.exitCode !== null) throw new Error('an instance could not be started');
    await sleep(20);
  }

  const findPrintedValue = (name: RegExp): string => name.exec(said)?.[1] ?? '';
  return {
    child,
    url: findPrintedValue(/^listening on (\S+)$/m),
    key: findPrintedValue(/^key: (\S+)$/m),
  };
}

type Headers = Record<string, string>;

async function findVersion(url: string, headers: Headers): Promise<string> {
  for (;;) {
    const answer = await fetch(`${url}/prompts/publish?q=ask`, { headers });
    const { data } = (await answer.json()) as {
      data: { rows: { slug: string; promptVersionId: string }[] };
    };
    const found = data.rows.find(({ slug }) => slug === 'ask');
    if (found) return found.promptVersionId;
    await sleep(50);
  }
}

/**
 * Sends a creation to one instance after the other until one acknowledges it, and returns its run.
 */
async function createOnce(
  urls: readonly string[],
  headers: Headers,
  { version, id }: { readonly version: string; readonly id: string },
): Promise<string> {
  const body = JSON.stringify({ promptVersionId: version, inputs: { textInputs: { id } } });
  for (let attempt = Math.floor(Math.random() * urls.length); ; attempt += 1) {
    const answer = await fetch(`${urls[attempt % urls.length]}/runs`, {
      method: 'POST',
      headers: { ...headers, 'idempotency-key': id },
      body,
    }).then(
      async answer => (await answer.json()) as { data?: { runId?: string } | null },
      () => undefined,
    );
    if (answer?.data?.runId) return answer.data.runId;
    await sleep(50);
  }
}

async function waitUntilReady(urls: readonly string[]): Promise<void> {
  const since = performance.now();
  for (const url of urls) {
    while ((await fetch(new URL('/readyz', url))).status !== 200) {
      if (performance.now() - since > GIVEN_UP_MS) {
        throw new Error('an instance did not find the new primary');
      }
      await sleep(50);
    }
  }
}

/** Counts what became of the runs, by the database and by the requests to the model. */
async function countOutcomes(
  database: string,
  acknowledged: ReadonlyMap<string, string>,
  asked: ReadonlyMap<string, number>,
) {
  const client = new pg.Client(database);
  await client.connect();
  try {
    const countUnended = async (): Promise<number> => {
      const { rows } = await client.query<{ count: number }>(
        `select count(*)::int as count from runs where status in ('queued', 'running')`,
      );
      return rows[0]?.count ?? 0;
    };

    const since = performance.now();
    while ((await countUnended()) > 0 && performance.now() - since < GIVEN_UP_MS) await sleep(250);
    const { rows } = await client.query<{ id: string; status: string }>(
      'select id, status from runs',
    );
    const known = new Map(rows.map(({ id, status }) => [id, status]));
    const { rows: users } = await client.query<{ credits: string }>(
      `select credits from users where name = 'local'`,
    );
    const paid = rows.filter(({ status }) => status === 'succeeded').length * COST;

    return {
      acknowledged: acknowledged.size,
      runs: rows.length,
      failed: rows.filter(({ status }) => status === 'failed').length,
      lost: [...acknowledged.values()].filter(id => !known.has(id)).length,
      askedTwice: [...asked.values()].filter(count => count > 1).length,
      unended: await countUnended(),
      wrongCredits: Number(users[0]?.credits) === CREDITS - paid ? 0 : 1,
    };
  } finally {
    await client.end();
  }
}
