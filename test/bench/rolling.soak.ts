import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { startPostgres } from '../support/databases/postgres.ts';
import { findFreePort } from '../support/free-port.ts';

const INSTANCES = 3;
const CALLERS = 20;

/**
 * The balancer asks once a second and waits for two failures: longer than that, and one interval
 * more.
 */
const DRAIN = '4s';
const SETTLE_MS = 3000;

/**
 * Restarts instances one after the other behind haproxy, under load. It asks /readyz, and sends no
 * request twice.
 */
export default async function soakRollingRestart(): Promise<void> {
  const directory = mkdtempSync(path.join(tmpdir(), 'promptrun-rolling-'));
  const cluster = await startPostgres();
  const children: ChildProcess[] = [];
  try {
    const front = await findFreePort();
    const ports = await Promise.all(Array.from({ length: INSTANCES }, findFreePort));

    const start = async (port: number) => {
      const instance = await startInstance(directory, cluster.url, { port, front });
      children.push(instance.child);
      return instance;
    };

    const first = await start(ports[0] ?? 0);
    const instances = [first];
    for (const port of ports.slice(1)) instances.push(await start(port));
    children.push(startBalancer(directory, front, ports));
    await sleep(SETTLE_MS);
    const over = new AbortController();
    const answers = new Map<string, number>();
    const callers = Array.from({ length: CALLERS }, async () => {
      while (!over.signal.aborted) {
        const answer = await createRun(front, first.key);
        answers.set(answer, (answers.get(answer) ?? 0) + 1);
      }
    });

    for (const [index, port] of ports.entries()) {
      const child = instances[index]?.child;
      child?.kill('SIGTERM');
      if (child) await once(child, 'exit');
      await start(port);
      await sleep(SETTLE_MS);
    }

    over.abort();
    await Promise.all(callers);
    process.stdout.write(`${JSON.stringify(Object.fromEntries(answers))}\n`);
  } finally {
    for (const child of children) child.kill('SIGKILL');
    cluster.remove();
    rmSync(directory, { recursive: true, force: true });
  }
}

async function startInstance(
  directory: string,
  database: string,
  { port, front }: { readonly port: number; readonly front: number },
): Promise<{ child: ChildProcess; key: string }> {
  const flags = [
    '-q',
    '--port',
    String(port),
    '--drain',
    DRAIN,
    '--public-url',
    `http://127.0.0.1:${front}`,
  ];

  const child = spawn(process.execPath, [path.resolve('bin/promptrun.js'), 'serve', ...flags], {
    env: {
      PATH: process.env['PATH'],
      HOME: directory,
      PROMPTRUN_DATA_DIR: path.join(directory, randomUUID()),
      PROMPTRUN_DATABASE_URL: database,
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

  return { child, key: /^key: (\S+)$/m.exec(said)?.[1] ?? '' };
}

function startBalancer(directory: string, front: number, ports: readonly number[]): ChildProcess {
  const file = path.join(directory, 'haproxy.cfg');
  const servers = ports.map((port, index) => `  server s${index} 127.0.0.1:${port}\n`).join('');
  writeFileSync(
    file,
    `defaults
  mode http
  retries 0
  timeout connect 5s
  timeout client 200s
  timeout server 200s
  timeout check 5s
frontend front
  bind 127.0.0.1:${front}
  default_backend instances
backend instances
  option httpchk GET /readyz
  default-server check inter 1s fall 2 rise 1
${servers}`,
  );

  return spawn('haproxy', ['-f', file, '-db'], {
    stdio: 'ignore',
    env: { PATH: `${process.env['PATH']}:/usr/sbin` },
  });
}

/** Characters shown of a refusal, which says if it is the balancer's or an instance's. */
const SHOWN = 120;

/** Returns the status of the answer, with a refusal's text, or the fault. */
async function createRun(front: number, key: string): Promise<string> {
  const delaySeconds = Math.random() < 0.1 ? '1' : '0';
  const body = JSON.stringify({
    promptVersionId: SANDBOX,
    inputs: {},
    runOptions: { delaySeconds },
  });

  const url = `http://127.0.0.1:${front}/v1/runs`;
  try {
    const answer = await fetch(url, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}` },
      body,
    });
    const text = await answer.text();
    return answer.ok ? String(answer.status) : `${answer.status} ${text.slice(0, SHOWN)}`;
  } catch (error) {
    return String(error instanceof Error ? (error.cause ?? error) : error);
  }
}

/** The prompt `sandbox` that every service has. */
const SANDBOX = 'a45c7f12-fbcf-53c9-8b31-83e2c2cc87fb';
