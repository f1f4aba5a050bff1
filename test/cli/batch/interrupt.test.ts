import { randomUUID } from 'node:crypto';
import { Readable } from 'node:stream';
import { expect, onTestFinished, test } from 'vitest';
import { EXIT } from '../../../src/cli/core/exit-codes.ts';
import type { LocalService } from '../../../src/cli/core/local-service.ts';
import { localService as embedded } from '../../../src/main.ts';
import {
  journalSteps,
  lastLines,
  parseLines,
  resultLines,
  runBatchCommand,
  startBatchCommand,
} from '../../support/batch-command.ts';
import { directoryWith } from '../../support/context.ts';
import { hastyClock, untilAborted } from '../../support/hasty-clock.ts';
import {
  failure,
  type PlainAnswer,
  type ScriptedService,
  startScriptedService,
  success,
  versionLookup,
} from '../../support/scripted-service.ts';
import { serviceEnv, startServiceForTest } from '../../support/service-for-test.ts';

const VERSION = randomUUID();

/**
 * Starts a service that answers creations when the test wants it; the second one at once if its
 * answer is given.
 */
async function holdingService(second?: PlainAnswer): Promise<{
  service: ScriptedService;
  held: (() => void)[];
  until: (n: number) => Promise<void>;
}> {
  const held: (() => void)[] = [];
  let creations = 0;
  const service = await startScriptedService(
    [
      { ...versionLookup(VERSION), times: 'any' },
      {
        expect: { method: 'POST' },
        times: 'any',
        answer: async () => {
          creations += 1;
          if (creations === 2 && second) return second;
          await new Promise<void>(resolve => held.push(resolve));
          return success({ runId: randomUUID(), outputs: [], runStatus: 'succeeded', tokens: 1 });
        },
      },
    ],
    { isOrdered: false },
  );
  onTestFinished(() => service.close());

  const until = async (count: number): Promise<void> => {
    while (held.length < count) {
      await new Promise(resolve => setImmediate(resolve));
    }
  };

  return { service, held, until };
}

const ROWS = `name\n${'Ada\n'.repeat(6)}`;
const ARGS = [VERSION, '--from', 'names.csv', '--out', 'results.jsonl', '--concurrency', '2'];

test.each([
  ['SIGINT', 130],
  ['SIGTERM', 143],
] as const)(
  'the first %s lets running rows finish and starts no more, exit %i',
  async (signal, exitCode) => {
    const { service, held, until } = await holdingService();
    const home = directoryWith({ 'names.csv': ROWS });
    const running = startBatchCommand(ARGS, { env: serviceEnv(service.baseUrl), home });
    await until(2);
    running.raise(signal);

    expect(running.stderr()).toContain('2 still running, press Ctrl-C again to drop them');

    for (const answer of held) answer();
    expect(await running.ended).toBe(exitCode);
    expect(running.stderr()).toContain('2 of 6 rows succeeded, 4 not done');
    expect(running.stderr()).toContain('note: 2 runs took ');
    expect(running.stderr()).toContain('--resume');
    expect(lastLines(home).map(({ runStatus }) => runStatus)).toEqual(['succeeded', 'succeeded']);
    expect(held).toHaveLength(2);
  },
);

test('after Ctrl-C, --sorted leaves the lines of standard output in the order of the rows, too', async () => {
  const { service, held, until } = await holdingService();
  const home = directoryWith({ 'names.csv': ROWS });
  const args = [VERSION, '--from', 'names.csv', '--sorted', '--concurrency', '3'];
  const running = startBatchCommand(args, { env: serviceEnv(service.baseUrl), home });
  await until(3);
  running.raise('SIGINT');

  for (const answer of held.toReversed()) {
    answer();
    await new Promise(resolve => setImmediate(resolve));
  }

  expect(await running.ended).toBe(EXIT.interrupted);
  expect(parseLines(running.stdout()).map(({ row }) => row)).toEqual([1, 2, 3]);
});

test('a row that waits to be sent again is not among the running ones', async () => {
  const later = failure(429, 'TOO_MANY_REQUESTS_ERROR', 'later', null, { 'retry-after': '50' });
  const { service, held, until } = await holdingService(later);
  const home = directoryWith({ 'names.csv': ROWS });
  let waits = false;
  const clock = hastyClock((ms, signal) => {
    if (ms < 40_000) return undefined;
    waits = true;
    return untilAborted(signal);
  });
  const running = startBatchCommand(ARGS, { env: serviceEnv(service.baseUrl), home, clock });
  await until(1);

  await expect.poll(() => waits).toBe(true);

  running.raise('SIGINT');
  expect(running.stderr()).toContain('1 still running, press Ctrl-C again to drop them');

  for (const answer of held) answer();
  expect(await running.ended).toBe(EXIT.interrupted);
  expect(running.stderr()).toContain('1 of 6 rows succeeded, 5 not done');
});

test('the second Ctrl-C drops running rows; resuming creates none of them twice', async () => {
  const { service, held, until } = await holdingService();
  const env = serviceEnv(service.baseUrl);
  const home = directoryWith({ 'names.csv': ROWS });
  const clock = hastyClock();
  const running = startBatchCommand(ARGS, { env, home, clock });
  await until(2);
  running.raise('SIGINT');
  await clock.sleep(500);
  running.raise('SIGINT');

  expect(await running.ended).toBe(EXIT.interrupted);
  expect(running.stderr()).toContain('0 of 6 rows succeeded, 2 in doubt, 4 not done');
  expect(journalSteps(home).map(({ state }) => state)).toEqual(['creating', 'creating']);
  expect(resultLines(home)).toEqual([]);

  const resumed = startBatchCommand([...ARGS, '--resume'], { env, home });

  for (let count = 4; count <= 6; count += 2) {
    await until(count);
    for (const answer of held) answer();
  }

  expect(await resumed.ended).toBe(EXIT.runFailed);
  expect(resumed.stderr()).toContain('4 of 6 rows succeeded, 2 in doubt');
  expect(held).toHaveLength(6);
});

test('a dropped row whose run had just ended by itself has succeeded, and nothing failed', async () => {
  const home = directoryWith({ 'names.csv': 'name\nAda\n' });

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
  expect(resultLines(home).map(({ runStatus }) => runStatus)).toEqual(['succeeded']);
});

test('rows that are awaited on standard input are not waited for after Ctrl-C', async () => {
  const { service, held, until } = await holdingService();
  const stdin = new Readable({ read() {} });
  stdin.push('{"name":"Ada"}\n');
  const running = startBatchCommand([VERSION, '--from', '-', '--format', 'jsonl'], {
    env: serviceEnv(service.baseUrl),
    stdin,
  });
  await until(1);
  held[0]?.();

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

test('a reader of the results that goes ends the batch, and is never a silent success', async () => {
  const { env, runs } = await startServiceForTest();
  const home = directoryWith({ 'names.csv': `name\n${'Ada\n'.repeat(50)}` });
  const args = ['hello', '--from', 'names.csv', '--concurrency', '1'];
  const { stderr, exitCode } = await runBatchCommand(args, { env, home, readerTakes: 10 });
  expect(exitCode).toBe(EXIT.fault);
  expect(stderr).toMatch(/The journal names the runs that were made: \S+\.journal/u);
  expect((await runs()).length).toBeLessThan(5);
});

test('creations open at a time are as many as were asked for, polled ones not counted', async () => {
  const { service, held, until } = await holdingService();
  const home = directoryWith({ 'names.csv': ROWS });
  const running = startBatchCommand(ARGS, { env: serviceEnv(service.baseUrl), home });
  await until(2);
  for (let turn = 0; turn < 20; turn += 1) await new Promise(resolve => setImmediate(resolve));

  expect(held).toHaveLength(2);

  held[0]?.();
  await until(3);
  for (const at of [1, 2]) held[at]?.();
  await until(5);
  for (const at of [3, 4]) held[at]?.();
  await until(6);
  held[5]?.();

  expect(await running.ended).toBe(0);
  expect(resultLines(home)).toHaveLength(6);
});
