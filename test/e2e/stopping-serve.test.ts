import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { Run, RunReference } from '../../src/wire/index.ts';
import { type RunningCommand, startCommand } from '../support/command.ts';
import {
  findPostgresPrograms,
  type PostgresCluster,
  startPostgres,
} from '../support/databases/postgres.ts';
import { isPosix } from '../support/system.ts';

interface Serving extends RunningCommand {
  readonly url: string;
  readonly key: string;
}

async function startServe(
  home?: string,
  database?: string,
  flags: readonly string[] = [],
): Promise<Serving> {
  const running = startCommand(['serve', '--port', '0', '--grace', '20s', ...flags], {
    ...(home !== undefined && { home }),
    env: database === undefined ? {} : { PROMPTRUN_DATABASE_URL: database },
  });
  onTestFinished(() => void running.child.kill('SIGKILL'));
  const [, url = ''] = await running.untilStdout(/^listening on (\S+)$/m);
  await running.untilStdout(/^page: /m);

  return { ...running, url, key: /^key: (\S+)$/m.exec(running.stdout())?.[1] ?? '' };
}

const SANDBOX = 'a45c7f12-fbcf-53c9-8b31-83e2c2cc87fb';

const createRun = (url: string, key: string, delaySeconds: string) =>
  fetch(`${url}/runs`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}` },
    body: JSON.stringify({ promptVersionId: SANDBOX, inputs: {}, runOptions: { delaySeconds } }),
  });

/**
 * Sends the beginning of a request; resolves once the service has it, as it answers another that
 * was sent later.
 */
async function sendBeginning(
  { url, key }: Serving,
  text: string,
): Promise<{ socket: Socket; answer: Promise<string> }> {
  const socket = connect(Number(new URL(url).port), '127.0.0.1');
  socket.on('error', () => {});
  onTestFinished(() => void socket.destroy());
  const answer = socket.toArray().then(
    pieces => Buffer.concat(pieces as Buffer[]).toString(),
    () => '',
  );
  await once(socket, 'connect');
  socket.write(text);
  await fetch(`${url}/me`, { headers: { authorization: `Bearer ${key}` } });

  return { socket, answer };
}

const CONNECTION_REFUSED = /ECONNREFUSED/;

/** Resolves once nothing can connect any more: the signal has arrived. */
async function waitUntilClosed(url: string): Promise<void> {
  await expect
    .poll(() =>
      fetch(url).then(
        () => '',
        (error: Error) => String((error.cause as NodeJS.ErrnoException | undefined)?.code),
      ),
    )
    .toMatch(CONNECTION_REFUSED);
}

describe.each(['SQLite', 'PostgreSQL'])('serve on %s, asked to stop', store => {
  const isShared = store === 'PostgreSQL';
  const startDatabase = async (): Promise<string | undefined> => {
    if (!isShared) return undefined;
    const cluster: PostgresCluster = await startPostgres();
    onTestFinished(() => cluster.remove());
    return cluster.url;
  };

  test.skipIf(isShared && findPostgresPrograms() === undefined)(
    'while headers and an upload arrive slowly: every creation in flight is answered, and it ends with 0',
    async () => {
      const url = await startDatabase();
      const serving = await startServe(undefined, url);
      const head = `POST /v1/runs HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${serving.key}\r\n`;
      const body = JSON.stringify({
        promptVersionId: SANDBOX,
        inputs: {},
        runOptions: { delaySeconds: '0' },
      });

      const header = await sendBeginning(serving, head);
      const upload = await sendBeginning(
        serving,
        `${head}Content-Length: ${body.length}\r\n\r\n${body.slice(0, 10)}`,
      );
      const creations = Array.from({ length: 12 }, () => createRun(serving.url, serving.key, '5'));

      await expect.poll(() => countRuns(serving)).toBe(12);

      serving.child.kill('SIGTERM');
      await waitUntilClosed(serving.url);
      header.socket.write('Content-Length: 2\r\n\r\n{}');
      upload.socket.write(body.slice(10));

      const answers = await Promise.all(creations);
      const runs = await Promise.all(
        answers.map(async answer => ((await answer.json()) as { data: Run }).data),
      );

      expect(answers.map(({ status }) => status)).toEqual(runs.map(() => 200));
      expect(new Set(runs.map(({ runStatus }) => runStatus))).toEqual(new Set(['succeeded']));
      expect(await header.answer).toMatch(/^HTTP\/1\.1 503 /);

      const uploaded = await upload.answer;
      expect(uploaded).toMatch(/^HTTP\/1\.1 (?:200|503|504) /);

      const { code, stderr } = await serving.ended;
      expect(stderr).toEqual(expect.not.stringMatching(/^ {4}at /m));
      expect(code).toBe(0);

      // A run that was acknowledged is there at the next start.
      const { data } = JSON.parse(uploaded.slice(uploaded.indexOf('\r\n\r\n'))) as {
        data: RunReference | null;
      };
      const next = await startServe(serving.home, url);
      const read = async (runId: string): Promise<string> => {
        const answer = await fetch(`${next.url}/runs/${runId}`, {
          headers: { authorization: `Bearer ${serving.key}` },
        });
        return ((await answer.json()) as { data: Run }).data.runStatus;
      };

      for (const { runId } of [...runs, ...(data ? [data] : [])]) {
        await expect.poll(() => read(runId)).toBe('succeeded');
      }

      next.child.kill('SIGTERM');
      expect((await next.ended).code).toBe(0);
    },
  );
});

async function countRuns({ url, key }: Serving): Promise<number> {
  const answer = await fetch(`${url}/runs?limit=50`, {
    headers: { authorization: `Bearer ${key}` },
  });
  return ((await answer.json()) as { data: { rows: unknown[] } }).data.rows.length;
}

test.runIf(isPosix)(
  'serve that drains is not ready, still answers, and ends at the next signal',
  async () => {
    const serving = await startServe(undefined, undefined, ['--drain', '10m']);
    const ready = new URL('/readyz', serving.url);

    expect((await fetch(ready)).status).toBe(200);

    serving.child.kill('SIGTERM');
    await expect.poll(async () => (await fetch(ready)).status).toBe(503);
    expect((await fetch(new URL('/healthz', serving.url))).status).toBe(200);

    const created = await createRun(serving.url, serving.key, '0');
    const { data } = (await created.json()) as { data: Run };

    expect([created.status, data.runStatus]).toEqual([200, 'succeeded']);

    // Two of a kind within a moment count as one.
    serving.child.kill('SIGINT');
    await waitUntilClosed(serving.url);

    const { stderr, ...end } = await serving.ended;
    expect(end).toMatchObject({ code: 0, signal: null });
    expect(stderr).toContain('Stopping; another signal stops it immediately.\n');
  },
);
