import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { serviceClock } from '../../src/service/core/clock.ts';
import {
  QueueRunner,
  type QueueRunnerOptions,
} from '../../src/service/runs/execution/queue-runner.ts';
import { openDatabase } from '../../src/service/store/open-database.ts';
import type { Run, RunPage, RunReference } from '../../src/wire/index.ts';
import { HandClock } from '../support/hand-clock.ts';
import {
  createTemporaryDataDir,
  type ServiceAnswer,
  TestService,
} from '../support/local-service.ts';

const SYNC_WINDOW_MS = 120_000;
const GRACE_MS = 10_000;

/** Time for callers to receive their last answers, after the grace. */
const LAST_ANSWERS_MS = 2000;

async function buildSlowRun(service: TestService, delaySeconds: string): Promise<object> {
  return {
    promptVersionId: await service.versionOf('sandbox'),
    inputs: {},
    runOptions: { delaySeconds },
  };
}

async function listRuns(service: TestService): Promise<RunPage['rows']> {
  return (await service.data<RunPage>('/runs', { key: service.service.sessionKey })).rows;
}

async function countSucceeded(service: TestService): Promise<number> {
  const runs = await listRuns(service);
  return runs.filter(({ runStatus }) => runStatus === 'succeeded').length;
}

/** Opens a connection, and closes it at the end of the test. */
async function openConnection(service: TestService): Promise<Socket> {
  const socket = connect(Number(new URL(service.service.url).port), '127.0.0.1');
  onTestFinished(() => void socket.destroy());
  socket.on('error', () => {});
  await once(socket, 'connect');
  return socket;
}

/** Sends the head of a creation, or only these headers of it, and waits until it has arrived. */
async function sendCreationHead(
  socket: Socket,
  service: TestService,
  ...headers: readonly string[]
): Promise<void> {
  const lines = [
    'POST /v1/runs HTTP/1.1',
    'Host: localhost',
    `Authorization: Bearer ${service.key}`,
    ...headers,
  ];
  socket.write(lines.map(line => `${line}\r\n`).join(''));

  // Whatever was written before is there once another connection has had an answer.
  await service.get('/me');
}

test('many runs at a time cause no warning', async () => {
  const clock = new HandClock();
  const service = await TestService.forTest({ clock });
  const warnings: Error[] = [];
  const addWarning = (warning: Error): void => void warnings.push(warning);
  process.on('warning', addWarning);
  onTestFinished(() => void process.off('warning', addWarning));
  const body = await buildSlowRun(service, '130');
  const creations = Array.from({ length: 12 }, () => service.post<RunReference>('/runs', body));
  await clock.waitForSleep(130_000, creations.length);
  await service.close();
  await Promise.all(creations);

  expect(warnings).toEqual([]);
});

describe('a service that is asked to stop', () => {
  test('answers a creation in flight whose run ends within the grace', async () => {
    const clock = new HandClock();
    const service = await TestService.forTest({ clock, graceMs: GRACE_MS });
    const creation = service.post<Run>('/runs', await buildSlowRun(service, '5'));
    await clock.waitForSleep(5000);
    const closed = service.close();
    await clock.waitForSleep(GRACE_MS);
    clock.advance(5000);
    expect((await creation).data.runStatus).toBe('succeeded');
    await closed;
  });

  test('answers 504 if its run does not end within the grace, and the run continues at the next start', async () => {
    const clock = new HandClock();
    const dataDir = createTemporaryDataDir();
    const first = await TestService.forTest({ clock, dataDir, graceMs: GRACE_MS });
    const creation = first.post<RunReference>('/runs', await buildSlowRun(first, '130'));
    await clock.waitForSleep(130_000);
    const closed = first.close();
    await clock.waitForSleep(GRACE_MS);
    clock.advance(GRACE_MS);
    const { http, data } = await creation;
    expect(http).toBe(504);
    await closed;

    const second = await TestService.forTest({ clock, dataDir });
    await clock.waitForSleep(130_000);

    expect(await listRuns(second)).toMatchObject([{ runId: data.runId, runStatus: 'running' }]);

    clock.advance(130_000);
    await expect
      .poll(() => listRuns(second))
      .toMatchObject([{ runId: data.runId, runStatus: 'succeeded' }]);
  });

  test('does not count as dead, however often it is stopped', async () => {
    const clock = new HandClock();
    const dataDir = createTemporaryDataDir();
    const first = await TestService.forTest({ clock, dataDir, syncWindowMs: SYNC_WINDOW_MS });
    const creation = first.post<RunReference>('/runs', await buildSlowRun(first, '130'));
    await clock.waitForSleep(130_000);
    await first.close();
    expect((await creation).http).toBe(504);

    for (let round = 0; round < 4; round += 1) {
      const next = await TestService.forTest({ clock, dataDir });
      await clock.waitForSleep(130_000);
      await next.close();
    }

    const last = await TestService.forTest({ clock, dataDir });
    await clock.waitForSleep(130_000);

    expect((await listRuns(last))[0]?.runStatus).toBe('running');
  });

  test('leaves queued runs for the next start, in their order', async () => {
    const clock = new HandClock();
    const dataDir = createTemporaryDataDir();

    const first = await TestService.forTest({ clock, dataDir, maxConcurrentRuns: 1 });
    const creations: Promise<ServiceAnswer<RunReference>>[] = [];
    for (let index = 0; index < 3; index += 1) {
      creations.push(first.post<RunReference>('/runs', await buildSlowRun(first, '30')));
      await clock.waitForSleep(SYNC_WINDOW_MS, index + 1);
    }

    await first.close();
    expect((await Promise.all(creations)).map(answer => answer.http)).toEqual([504, 504, 504]);

    const second = await TestService.forTest({ clock, dataDir, maxConcurrentRuns: 1 });
    for (let count = 1; count <= 3; count += 1) {
      await clock.waitForSleep(30_000);
      clock.advance(30_000);
      await expect.poll(() => countSucceeded(second)).toBe(count);
    }
  });

  test('refuses new requests', async () => {
    const clock = new HandClock();
    const service = await TestService.forTest({ clock, graceMs: GRACE_MS });
    const creation = service.post('/runs', await buildSlowRun(service, '5'));
    await clock.waitForSleep(5000);
    const closed = service.close();

    await expect(service.get('/me')).rejects.toThrow();

    clock.advance(5000);
    await creation;
    await closed;
  });

  test('does not wait for a connection without any request', async () => {
    const service = await TestService.forTest({ clock: new HandClock(), graceMs: GRACE_MS });
    const socket = await openConnection(service);
    const closed = once(socket, 'close');
    await service.close();
    await closed;
  });

  test('does not wait beyond the grace for an upload that never ends', async () => {
    const clock = new HandClock();
    const service = await TestService.forTest({ clock, graceMs: GRACE_MS });
    const socket = await openConnection(service);
    await sendCreationHead(socket, service, 'Content-Length: 9', '');
    const closed = service.close();
    await clock.waitForSleep(GRACE_MS);
    clock.advance(GRACE_MS);
    await clock.waitForSleep(LAST_ANSWERS_MS);
    clock.advance(LAST_ANSWERS_MS);
    await closed;
  });

  test('accepts a creation whose body arrives within the grace, and its run continues at the next start', async () => {
    const clock = new HandClock();
    const service = await TestService.forTest({ clock, graceMs: GRACE_MS });
    const body = JSON.stringify({
      promptVersionId: await service.versionOf('hello'),
      inputs: { textInputs: { name: 'Ann' } },
    });
    const socket = await openConnection(service);
    socket.setEncoding('utf8');
    let answer = '';
    socket.on('data', (text: string) => {
      answer += text;
    });
    const length = Buffer.byteLength(body);
    await sendCreationHead(socket, service, `Content-Length: ${length}`, '');
    socket.write(body.slice(0, 10));
    await service.get('/me');
    const closed = service.close();
    await clock.waitForSleep(GRACE_MS);
    socket.write(body.slice(10));
    await once(socket, 'close');
    await closed;

    expect(answer).toContain('504 Gateway Timeout');

    const answerBody = answer.slice(answer.indexOf('\r\n\r\n'));
    const { runId } = (JSON.parse(answerBody) as { data: RunReference }).data;
    const next = await TestService.forTest({ dataDir: service.dataDir });
    const read = () => next.data<Run>(`/runs/${runId}`, { key: service.key });

    await expect.poll(read).toMatchObject({ runStatus: 'succeeded' });
  });
});

describe('a request whose headers are still arriving when the service is asked to stop', () => {
  const startRequest = async (service: TestService) => {
    const socket = await openConnection(service);
    const answer = socket.toArray().then(pieces => Buffer.concat(pieces as Buffer[]).toString());
    await sendCreationHead(socket, service);
    return { socket, answer };
  };

  test('gets 503, and the rest of its body is read', async () => {
    const service = await TestService.forTest({ clock: new HandClock(), graceMs: GRACE_MS });
    const { socket, answer } = await startRequest(service);
    const closed = service.close();
    socket.write(`Content-Length: 1000000\r\n\r\n${'x'.repeat(1000)}`);
    socket.write('x'.repeat(999_000));
    expect(await answer).toContain('503 Service Unavailable');
    await closed;
  });

  test('does not delay the end beyond the grace', async () => {
    const clock = new HandClock();
    const service = await TestService.forTest({ clock, graceMs: GRACE_MS });
    const { answer } = await startRequest(service);
    const closed = service.close();
    await clock.waitForSleep(GRACE_MS);
    clock.advance(GRACE_MS);

    expect(await answer.catch(() => '')).toBe('');
    await closed;
  });
});

test('a stopping service looks no further for runs of other processes, since its store closes', async () => {
  const store = await openDatabase({
    dataDir: createTemporaryDataDir(),
    clock: serviceClock,
    env: {},
  });
  let resolveWorkers: (workers: string[]) => void = () => {};
  const workers = new Promise<string[]>(resolve => {
    resolveWorkers = resolve;
  });
  vi.spyOn(store.queue, 'findWorkersWithRuns').mockReturnValue(workers);
  const findRunning = vi.spyOn(store.queue, 'findRunningIds');
  const options = { store, clock: serviceClock, programRunIds: new Set(), onFault: () => {} };
  const runner = new QueueRunner(options as unknown as QueueRunnerOptions);
  runner.start();
  const closed = runner.close(GRACE_MS);
  resolveWorkers([]);
  await closed;
  await store.close();

  expect(findRunning).not.toHaveBeenCalled();
});
