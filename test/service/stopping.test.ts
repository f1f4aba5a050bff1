import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { serviceClock } from '../../src/service/core/clock.ts';
import { QueueRunner, type QueueRunnerOptions } from '../../src/service/runs/queue-runner.ts';
import { openDatabase } from '../../src/service/store/open-database.ts';
import type { Run, RunPage, RunReference } from '../../src/wire/index.ts';
import { HandClock } from '../support/hand-clock.ts';
import { type ServiceAnswer, TestService, temporaryDataDir } from '../support/local-service.ts';

const WINDOW = 120_000;
const GRACE = 10_000;

const running: TestService[] = [];

afterEach(async () => {
  for (const service of running.splice(0)) await service.close();
});

async function start(options: Parameters<typeof TestService.start>[0]): Promise<TestService> {
  const service = await TestService.start(options);
  running.push(service);
  return service;
}

async function slowRun(service: TestService, delaySeconds: string): Promise<object> {
  return {
    promptVersionId: await service.versionOf('sandbox'),
    inputs: {},
    runOptions: { delaySeconds },
  };
}

const rows = async (service: TestService) =>
  (await service.data<RunPage>('/runs', { key: service.service.sessionKey })).rows;

test('many runs at a time cause no warning', async () => {
  const clock = new HandClock();
  const service = await TestService.forTest({ clock });
  const warnings: Error[] = [];
  const note = (warning: Error): void => void warnings.push(warning);
  process.on('warning', note);
  const body = await slowRun(service, '130');
  const creations = Array.from({ length: 12 }, () => service.post<RunReference>('/runs', body));
  await clock.sleeping(130_000, creations.length);
  await service.close();
  await Promise.all(creations);
  process.off('warning', note);

  expect(warnings).toEqual([]);
});

describe('a service that is asked to stop', () => {
  test('answers a creation in flight whose run ends within the grace', async () => {
    const clock = new HandClock();
    const service = await TestService.start({ clock, graceMs: GRACE });
    const creation = service.post<Run>('/runs', await slowRun(service, '5'));
    await clock.sleeping(5000);
    const closed = service.close();
    await clock.sleeping(GRACE);
    clock.advance(5000);

    expect((await creation).data.runStatus).toBe('succeeded');

    await closed;
  });

  test('answers 504 if its run does not end within the grace, and the run continues at the next start', async () => {
    const clock = new HandClock();
    const dataDir = temporaryDataDir();
    const first = await TestService.start({ clock, dataDir, graceMs: GRACE });
    const creation = first.post<RunReference>('/runs', await slowRun(first, '130'));
    await clock.sleeping(130_000);
    const closed = first.close();
    await clock.sleeping(GRACE);
    clock.advance(GRACE);
    const { http, data } = await creation;

    expect(http).toBe(504);

    await closed;

    const second = await start({ clock, dataDir });
    await clock.sleeping(130_000);

    expect(await rows(second)).toMatchObject([{ runId: data.runId, runStatus: 'running' }]);

    clock.advance(130_000);
    await expect
      .poll(() => rows(second))
      .toMatchObject([{ runId: data.runId, runStatus: 'succeeded' }]);
  });

  test('does not count as dead, however often it is stopped', async () => {
    const clock = new HandClock();
    const dataDir = temporaryDataDir();
    const first = await TestService.forTest({ clock, dataDir, syncWindowMs: WINDOW });
    const creation = first.post<RunReference>('/runs', await slowRun(first, '130'));
    await clock.sleeping(130_000);
    await first.close();

    expect((await creation).http).toBe(504);

    for (let round = 0; round < 4; round += 1) {
      const next = await TestService.start({ clock, dataDir });
      await clock.sleeping(130_000);
      await next.close();
    }

    const last = await start({ clock, dataDir });
    await clock.sleeping(130_000);

    expect((await rows(last))[0]?.runStatus).toBe('running');
  });

  test('leaves queued runs for the next start, in their order', async () => {
    const clock = new HandClock();
    const dataDir = temporaryDataDir();

    const first = await TestService.forTest({ clock, dataDir, parallel: 1 });
    const creations: Promise<ServiceAnswer<RunReference>>[] = [];
    for (let index = 0; index < 3; index += 1) {
      creations.push(first.post<RunReference>('/runs', await slowRun(first, '30')));
      await clock.sleeping(WINDOW, index + 1);
    }

    await first.close();
    expect((await Promise.all(creations)).map(answer => answer.http)).toEqual([504, 504, 504]);

    const second = await start({ clock, dataDir, parallel: 1 });
    for (let done = 1; done <= 3; done += 1) {
      await clock.sleeping(30_000);
      clock.advance(30_000);
      const statuses = () =>
        rows(second).then(all => all.filter(row => row.runStatus === 'succeeded').length);
      await expect.poll(statuses).toBe(done);
    }
  });

  test('refuses new requests', async () => {
    const clock = new HandClock();
    const service = await TestService.start({ clock, graceMs: GRACE });
    const creation = service.post('/runs', await slowRun(service, '5'));
    await clock.sleeping(5000);
    const closed = service.close();

    await expect(service.get('/me')).rejects.toThrow();

    clock.advance(5000);
    await creation;
    await closed;
  });
});

async function connected(service: TestService): Promise<Socket> {
  const socket = connect(Number(new URL(service.service.url).port), '127.0.0.1');
  socket.on('error', () => {});
  await once(socket, 'connect');
  return socket;
}

describe('a request whose headers are still arriving when the service is asked to stop', () => {
  const arriving = async (
    service: TestService,
  ): Promise<{ socket: Socket; answer: Promise<string> }> => {
    const socket = await connected(service);
    const answer = socket.toArray().then(pieces => Buffer.concat(pieces as Buffer[]).toString());
    socket.write(
      `POST /v1/runs HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${service.key}\r\n`,
    );

    // Whatever was written before is there once another connection has had an answer.
    await service.get('/me');
    return { socket, answer };
  };

  test('gets 503, and the rest of its body is read', async () => {
    const service = await TestService.start({ clock: new HandClock(), graceMs: GRACE });
    const { socket, answer } = await arriving(service);
    const closed = service.close();
    socket.write(`Content-Length: 1000000\r\n\r\n${'x'.repeat(1000)}`);
    socket.write('x'.repeat(999_000));
    expect(await answer).toContain('503 Service Unavailable');
    await closed;
  });

  test('does not delay the end beyond the grace', async () => {
    const clock = new HandClock();
    const service = await TestService.start({ clock, graceMs: GRACE });
    const { answer } = await arriving(service);
    const closed = service.close();
    await clock.sleeping(GRACE);
    clock.advance(GRACE);

    expect(await answer.catch(() => '')).toBe('');

    await closed;
  });
});

describe('a service that is asked to stop does not wait for', () => {
  test('a connection without any request', async () => {
    const service = await TestService.forTest({ clock: new HandClock(), graceMs: GRACE });
    const socket = await connected(service);
    const closed = once(socket, 'close');
    await service.close();
    await closed;
  });

  test('an upload that never ends, beyond the grace', async () => {
    const clock = new HandClock();
    const service = await TestService.start({ clock, graceMs: GRACE });
    const socket = await connected(service);
    socket.write(
      `POST /v1/runs HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${service.key}\r\nContent-Length: 9\r\n\r\n`,
    );
    await service.get('/me');
    const closed = service.close();
    await clock.sleeping(GRACE);
    clock.advance(GRACE);
    await clock.sleeping(2000);
    clock.advance(2000);
    await closed;
  });

  test('an upload that ends within the grace is a run, which continues at the next start', async () => {
    const clock = new HandClock();
    const service = await TestService.start({ clock, graceMs: GRACE });
    const body = JSON.stringify({
      promptVersionId: await service.versionOf('hello'),
      inputs: { textInputs: { name: 'Ann' } },
    });
    const socket = await connected(service);
    socket.setEncoding('utf8');
    let answer = '';
    socket.on('data', (text: string) => {
      answer += text;
    });
    socket.write(
      `POST /v1/runs HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${service.key}\r\n`,
    );
    socket.write(`Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body.slice(0, 10)}`);
    await service.get('/me');
    const closed = service.close();
    await clock.sleeping(GRACE);
    socket.write(body.slice(10));
    await once(socket, 'close');
    await closed;

    expect(answer).toContain('504 Gateway Timeout');

    const { runId } = (
      JSON.parse(answer.slice(answer.indexOf('\r\n\r\n'))) as { data: RunReference }
    ).data;
    const next = await start({ dataDir: service.dataDir });
    const read = () => next.data<Run>(`/runs/${runId}`, { key: service.key });

    await expect.poll(read).toMatchObject({ runStatus: 'succeeded' });
  });
});

test('a stopping service looks no further for runs of other processes, since its store closes', async () => {
  const store = await openDatabase({ dataDir: temporaryDataDir(), clock: serviceClock, env: {} });
  let answerLook: (workers: string[]) => void = () => {};
  const looking = new Promise<string[]>(resolve => {
    answerLook = resolve;
  });
  vi.spyOn(store.queue, 'findWorkersWithRuns').mockReturnValue(looking);
  const furtherLook = vi.spyOn(store.queue, 'findRunning');
  const options = { store, clock: serviceClock, programs: new Set(), onFault: () => {} };
  const runner = new QueueRunner(options as unknown as QueueRunnerOptions);
  runner.start();
  const closed = runner.close(GRACE);
  answerLook([]);
  await closed;
  await store.close();

  expect(furtherLook).not.toHaveBeenCalled();
});
