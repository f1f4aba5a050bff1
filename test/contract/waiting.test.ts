import { afterEach, describe, expect, test } from 'vitest';
import type { Run, RunPage, RunReference } from '../../src/wire/index.ts';
import { HandClock } from '../support/hand-clock.ts';
import { TestService } from '../support/local-service.ts';

const WINDOW = 120_000;

let service: TestService;
afterEach(() => service.close());

async function buildSlowRun(seconds: string): Promise<object> {
  const promptVersionId = await service.versionOf('sandbox');
  return { promptVersionId, inputs: {}, runOptions: { delaySeconds: seconds } };
}

async function getOnlyRow(): Promise<RunPage['rows'][number]> {
  const { rows } = await service.data<RunPage>('/runs');
  expect(rows).toHaveLength(1);
  return rows[0] as RunPage['rows'][number];
}

describe('a run that takes longer than the window', () => {
  test('is answered 504 with its id, continues, and is polled to its end', async () => {
    const clock = new HandClock();
    service = await TestService.start({ clock, syncWindowMs: WINDOW });
    const creation = service.post<RunReference>('/runs', await buildSlowRun('130'));
    await clock.waitForSleep(130_000);
    await clock.waitForSleep(WINDOW);
    clock.advance(WINDOW);
    const answer = await creation;

    expect(answer).toMatchObject({
      http: 504,
      status: 'GATEWAY_TIMEOUT_ERROR',
      message: expect.any(String) as string,
    });

    const { runId } = answer.data;
    expect(answer.data).toEqual({ runId });

    expect(await service.data<Run>(`/runs/${runId}`)).toEqual({
      runId,
      outputs: [],
      runStatus: 'running',
      tokens: 0,
    });

    expect(await getOnlyRow()).toMatchObject({ runId, outputs: [], runStatus: 'running' });

    clock.advance(10_000);
    await expect
      .poll(() => service.data<Run>(`/runs/${runId}`))
      .toMatchObject({
        runStatus: 'succeeded',
        outputs: [{ type: 'text' }],
      });
  });

  test('a run that ends within the window is answered at once, not when the window is over', async () => {
    const clock = new HandClock();
    service = await TestService.start({ clock, syncWindowMs: WINDOW });
    const creation = service.post<Run>('/runs', await buildSlowRun('30'));
    await clock.waitForSleep(30_000);
    await clock.waitForSleep(WINDOW);
    clock.advance(30_000);
    expect((await creation).data.runStatus).toBe('succeeded');
  });

  test('waits in the queue as queued while others run', async () => {
    const clock = new HandClock();
    service = await TestService.start({ clock, syncWindowMs: WINDOW, maxConcurrentRuns: 1 });
    const first = service.post<Run>('/runs', await buildSlowRun('30'));
    await clock.waitForSleep(30_000);
    const second = service.post<Run>('/runs', await buildSlowRun('5'));
    await clock.waitForSleep(WINDOW, 2);
    const statuses = (await service.data<RunPage>('/runs')).rows.map(row => row.runStatus);

    expect(statuses).toEqual(['queued', 'running']);

    const [queued] = (await service.data<RunPage>('/runs?status=queued')).rows;
    expect(await service.data<Run>(`/runs/${queued?.runId}`)).toMatchObject({
      runStatus: 'queued',
      outputs: [],
      tokens: 0,
    });

    clock.advance(30_000);
    await clock.waitForSleep(5000);
    clock.advance(5000);

    expect((await first).data.runStatus).toBe('succeeded');
    expect((await second).data.runStatus).toBe('succeeded');
  });

  test('continues when the caller has gone', async () => {
    const clock = new HandClock();
    service = await TestService.start({ clock, syncWindowMs: WINDOW });
    const gone = new AbortController();
    const creation = fetch(`${service.service.url}/runs`, {
      method: 'POST',
      headers: { authorization: `Bearer ${service.key}` },
      body: JSON.stringify(await buildSlowRun('30')),
      signal: gone.signal,
    });

    await clock.waitForSleep(30_000);
    gone.abort();

    await expect(creation).rejects.toThrow();

    clock.advance(30_000);
    await expect.poll(getOnlyRow).toMatchObject({ runStatus: 'succeeded' });
  });
});

describe('credits are reserved when a run is created and settled when it finishes', () => {
  test('a success costs what was reserved', async () => {
    const clock = new HandClock();
    service = await TestService.start({ clock });
    const before = await service.data<{ credits: number }>('/me/credits');
    const creation = service.post<Run>('/runs', await buildSlowRun('5'));
    await clock.waitForSleep(5000);

    expect(await service.data('/me/credits')).toEqual({ credits: before.credits - 1 });

    clock.advance(5000);
    await creation;

    expect(await service.data('/me/credits')).toEqual({ credits: before.credits - 1 });
    expect((await getOnlyRow()).credits).toBe(1);
  });

  test('a failure is free: given back, and null in the list', async () => {
    service = await TestService.start();
    const before = await service.data('/me/credits');
    const promptVersionId = await service.versionOf('sandbox');
    await service.post('/runs', { promptVersionId, inputs: {}, runOptions: { outcome: 'failed' } });
    expect(await service.data('/me/credits')).toEqual(before);
    expect((await getOnlyRow()).credits).toBeNull();
  });
});
