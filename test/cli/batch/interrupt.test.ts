import { randomUUID } from 'node:crypto';
import { Readable } from 'node:stream';
import { expect, onTestFinished, test } from 'vitest';
import { EXIT } from '../../../src/cli/core/exit-codes.ts';
import type { LocalService } from '../../../src/cli/core/local-service.ts';
import { localService as embedded } from '../../../src/main.ts';
import {
  parseLines,
  readJournalSteps,
  readLastLines,
  readResultLines,
  runBatchCommand,
  startBatchCommand,
} from '../../support/batch-command.ts';
import { createDirectoryWith } from '../../support/context.ts';
import { createHastyClock, waitUntilAborted } from '../../support/hasty-clock.ts';
import {
  failure,
  type PlainAnswer,
  type ScriptedService,
  startScriptedService,
  success,
  versionLookup,
} from '../../support/scripted-service.ts';
import { buildServiceEnv, startServiceForTest } from '../../support/service-for-test.ts';

const VERSION = randomUUID();

/**
 * Starts a service that holds the answers to creations until the test gives them. With
 * `secondAnswer`, it gives that at once to the second creation.
 */
async function startHoldingService(secondAnswer?: PlainAnswer): Promise<{
  service: ScriptedService;
  pendingAnswers: (() => void)[];
  waitForPending: (count: number) => Promise<void>;
}> {
  const pendingAnswers: (() => void)[] = [];
  let creationCount = 0;
  const service = await startScriptedService(
    [
      { ...versionLookup(VERSION), times: 'any' },
      {
        expect: { method: 'POST' },
        times: 'any',
        answer: async () => {
          creationCount += 1;
          if (creationCount === 2 && secondAnswer) return secondAnswer;
          await new Promise<void>(resolve => pendingAnswers.push(resolve));
          return success({ runId: randomUUID(), outputs: [], runStatus: 'succeeded', tokens: 1 });
        },
      },
    ],
    { isOrdered: false },
  );
  onTestFinished(() => service.close());

  const waitForPending = async (count: number): Promise<void> => {
    while (pendingAnswers.length < count) {
      await new Promise(resolve => setImmediate(resolve));
    }
  };

  return { service, pendingAnswers, waitForPending };
}

const ROWS = `name\n${'Ada\n'.repeat(6)}`;
const ARGS = [VERSION, '--from', 'names.csv', '--out', 'results.jsonl', '--concurrency', '2'];

test.each([
  { signal: 'SIGINT', expectedExitCode: 130 },
  { signal: 'SIGTERM', expectedExitCode: 143 },
] as const)(
  'the first $signal lets running rows finish and starts no more, exit $expectedExitCode',
  async ({ signal, expectedExitCode }) => {
    const { service, pendingAnswers, waitForPending } = await startHoldingService();
    const home = createDirectoryWith({ 'names.csv': ROWS });
    const running = startBatchCommand(ARGS, { env: buildServiceEnv(service.baseUrl), home });
    await waitForPending(2);
    running.raise(signal);

    expect(running.stderr()).toContain('2 still running, press Ctrl-C again to drop them');

    for (const answer of pendingAnswers) answer();
    expect(await running.ended).toBe(expectedExitCode);
    expect(running.stderr()).toContain('2 of 6 rows succeeded, 4 not done');
    expect(running.stderr()).toContain('note: 2 runs took ');
    expect(running.stderr()).toContain('--resume');
    expect(readLastLines(home).map(({ runStatus }) => runStatus)).toEqual([
      'succeeded',
      'succeeded',
    ]);
    expect(pendingAnswers).toHaveLength(2);
  },
);

test('--sorted leaves the lines of standard output in the order of the rows after Ctrl-C', async () => {
  const { service, pendingAnswers, waitForPending } = await startHoldingService();
  const home = createDirectoryWith({ 'names.csv': ROWS });
  const args = [VERSION, '--from', 'names.csv', '--sorted', '--concurrency', '3'];
  const running = startBatchCommand(args, { env: buildServiceEnv(service.baseUrl), home });
  await waitForPending(3);
  running.raise('SIGINT');

  for (const answer of pendingAnswers.toReversed()) {
    answer();
    await new Promise(resolve => setImmediate(resolve));
  }

  expect(await running.ended).toBe(EXIT.interrupted);
  expect(parseLines(running.stdout()).map(({ row }) => row)).toEqual([1, 2, 3]);
});

test('a row that waits to be sent again does not count as running', async () => {
  const tooManyRequests = failure(429, 'TOO_MANY_REQUESTS_ERROR', 'later', null, {
    'retry-after': '50',
  });
  const { service, pendingAnswers, waitForPending } = await startHoldingService(tooManyRequests);
  const home = createDirectoryWith({ 'names.csv': ROWS });
  let isWaiting = false;
  const clock = createHastyClock((ms, signal) => {
    // Every other wait of the command is shorter than the one that the service asks for.
    if (ms < 40_000) return undefined;
    isWaiting = true;
    return waitUntilAborted(signal);
  });
  const running = startBatchCommand(ARGS, { env: buildServiceEnv(service.baseUrl), home, clock });
  await waitForPending(1);

  await expect.poll(() => isWaiting).toBe(true);

  running.raise('SIGINT');
  expect(running.stderr()).toContain('1 still running, press Ctrl-C again to drop them');

  for (const answer of pendingAnswers) answer();
  expect(await running.ended).toBe(EXIT.interrupted);
  expect(running.stderr()).toContain('1 of 6 rows succeeded, 5 not done');
});

test('the second Ctrl-C drops running rows, and --resume creates none of them twice', async () => {
  const { service, pendingAnswers, waitForPending } = await startHoldingService();
  const env = buildServiceEnv(service.baseUrl);
  const home = createDirectoryWith({ 'names.csv': ROWS });
  const clock = createHastyClock();
  const running = startBatchCommand(ARGS, { env, home, clock });
  await waitForPending(2);
  running.raise('SIGINT');
  // A signal less than 100 ms after another is taken for its echo.
  await clock.sleep(500);
  running.raise('SIGINT');

  expect(await running.ended).toBe(EXIT.interrupted);
  expect(running.stderr()).toContain('0 of 6 rows succeeded, 2 in doubt, 4 not done');
  expect(readJournalSteps(home).map(({ state }) => state)).toEqual(['creating', 'creating']);
  expect(readResultLines(home)).toEqual([]);

  const resumed = startBatchCommand([...ARGS, '--resume'], { env, home });

  // Two more creations are open at a time; those of the first process are among the six.
  await waitForPending(4);
  for (const answer of pendingAnswers) answer();
  await waitForPending(6);
  for (const answer of pendingAnswers) answer();

  expect(await resumed.ended).toBe(EXIT.runFailed);
  expect(resumed.stderr()).toContain('4 of 6 rows succeeded, 2 in doubt');
  expect(pendingAnswers).toHaveLength(6);
});

test('a dropped row whose run has just ended by itself has succeeded', async () => {
  const home = createDirectoryWith({ 'names.csv': 'name\nAda\n' });

  const drop = (): void => {
    running.raise('SIGINT');
    running.raise('SIGTERM');
  };

  const local: LocalService = {
    ...embedded,
    async start(options) {
      const service = await embedded.start(options);
      return {
        ...service,
        async request(request) {
          const response = await service.request(request);
          if (request.method === 'POST') drop();
          request.signal?.throwIfAborted();
          return response;
        },
      };
    },
  };

  const args = ['hello', '--from', 'names.csv', '--out', 'results.jsonl'];
  const running = startBatchCommand(args, { env: {}, home, local });

  expect(await running.ended).toBe(EXIT.interrupted);
  expect(running.stderr()).toContain('1 of 1 rows succeeded');
  expect(running.stderr()).not.toContain('--retry-failed');
  expect(readResultLines(home).map(({ runStatus }) => runStatus)).toEqual(['succeeded']);
});

test('Ctrl-C ends a batch that waits for more rows on standard input', async () => {
  const { service, pendingAnswers, waitForPending } = await startHoldingService();
  const stdin = new Readable({ read() {} });
  stdin.push('{"name":"Ada"}\n');
  const running = startBatchCommand([VERSION, '--from', '-', '--format', 'jsonl'], {
    env: buildServiceEnv(service.baseUrl),
    stdin,
  });
  await waitForPending(1);
  pendingAnswers[0]?.();

  while (!running.stdout().includes('succeeded')) {
    await new Promise(resolve => setImmediate(resolve));
  }

  running.raise('SIGINT');
  expect(await running.ended).toBe(EXIT.interrupted);
});

test('rows from standard input run as they come', async () => {
  const { env } = await startServiceForTest();
  const stdin = new Readable({ read() {} });

  const running = startBatchCommand(['hello', '--from', '-', '--format', 'jsonl'], { env, stdin });
  for (const name of ['Ada', 'Bo']) {
    stdin.push(`{"name":"${name}"}\n`);
    while (!running.stdout().includes(name)) {
      await new Promise(resolve => setImmediate(resolve));
    }
  }

  stdin.push(null);
  expect(await running.ended).toBe(0);
});

test('a batch stops with exit 1 if the reader of its results goes away', async () => {
  const { env, runs } = await startServiceForTest();
  const home = createDirectoryWith({ 'names.csv': `name\n${'Ada\n'.repeat(50)}` });
  const args = ['hello', '--from', 'names.csv', '--concurrency', '1'];
  const { stderr, exitCode } = await runBatchCommand(args, { env, home, readerTakes: 10 });
  expect(exitCode).toBe(EXIT.fault);
  expect(stderr).toMatch(/The journal names the runs that were made: \S+\.journal/u);

  // The first result fills what the reader takes; a few rows start before the pipe reports its end.
  expect((await runs()).length).toBeLessThan(5);
});

test('--concurrency limits the number of creations that are open at a time', async () => {
  const { service, pendingAnswers, waitForPending } = await startHoldingService();
  const home = createDirectoryWith({ 'names.csv': ROWS });
  const running = startBatchCommand(ARGS, { env: buildServiceEnv(service.baseUrl), home });
  await waitForPending(2);
  for (let turn = 0; turn < 20; turn += 1) await new Promise(resolve => setImmediate(resolve));

  expect(pendingAnswers).toHaveLength(2);

  pendingAnswers[0]?.();
  await waitForPending(3);
  for (const index of [1, 2]) pendingAnswers[index]?.();
  await waitForPending(5);
  for (const index of [3, 4]) pendingAnswers[index]?.();
  await waitForPending(6);
  pendingAnswers[5]?.();

  expect(await running.ended).toBe(0);
  expect(readResultLines(home)).toHaveLength(6);
});
