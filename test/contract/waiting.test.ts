import { afterEach, describe, expect, test } from 'vitest';
import type { Run, RunPage, RunReference } from '../../src/wire/index.ts';
import { HandClock } from '../support/hand-clock.ts';
import { TestService } from '../support/local-service.ts';

/** The time that a creation waits for its run. */
const SYNC_WINDOW_MS = 120_000;

let service: TestService;
afterEach(() => service.close());

async function buildSlowRequest(delaySeconds: string): Promise<object> {
  const promptVersionId = await service.versionOf('sandbox');
  return { promptVersionId, inputs: {}, runOptions: { delaySeconds } };
}

async function getOnlyRow(): Promise<RunPage['rows'][number]> {
  const { rows } = await service.data<RunPage>('/runs');
  expect(rows).toHaveLength(1);
  return rows[0] as RunPage['rows'][number];
}

describe('the creation of a run', () => {
  test('is answered 504 with the id of a run that takes longer than the window, which continues', async () => {
    const clock = new HandClock();
    service = await TestService.start({ clock, syncWindowMs: SYNC_WINDOW_MS });
    const creation = service.post<RunReference>('/runs', await buildSlowRequest('130'));
    await clock.waitForSleep(130_000);
    await clock.waitForSleep(SYNC_WINDOW_MS);
    clock.advance(SYNC_WINDOW_MS);
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

  test('is answered as soon as the run ends, if that is within the window', async () => {
    const clock = new HandClock();
    service = await TestService.start({ clock, syncWindowMs: SYNC_WINDOW_MS });
    const creation = service.post<Run>('/runs', await buildSlowRequest('30'));
    await clock.waitForSleep(30_000);
    await clock.waitForSleep(SYNC_WINDOW_MS);
    clock.advance(30_000);
    expect((await creation).data.runStatus).toBe('succeeded');
  });

  test('leaves the run queued while as many others run as may', async () => {
    const clock = new HandClock();
    service = await TestService.start({
      clock,
      syncWindowMs: SYNC_WINDOW_MS,
      maxConcurrentRuns: 1,
    });
    const first = service.post<Run>('/runs', await buildSlowRequest('30'));
    await clock.waitForSleep(30_000);
    const second = service.post<Run>('/runs', await buildSlowRequest('5'));
    await clock.waitForSleep(SYNC_WINDOW_MS, 2);
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

  test('leads to a run that continues when the caller has gone', async () => {
    const clock = new HandClock();
    service = await TestService.start({ clock, syncWindowMs: SYNC_WINDOW_MS });
    const gone = new AbortController();
    const creation = fetch(`${service.service.url}/runs`, {
      method: 'POST',
      headers: { authorization: `Bearer ${service.key}` },
      body: JSON.stringify(await buildSlowRequest('30')),
      signal: gone.signal,
    });

    await clock.waitForSleep(30_000);
    gone.abort();

    await expect(creation).rejects.toThrow();

    clock.advance(30_000);
    await expect.poll(getOnlyRow).toMatchObject({ runStatus: 'succeeded' });
  });
});

describe('the credits of a run', () => {
  test('are taken when it is created, and stay taken if it succeeds', async () => {
    const clock = new HandClock();
    service = await TestService.start({ clock });
    const before = await service.data<{ credits: number }>('/me/credits');
    const creation = service.post<Run>('/runs', await buildSlowRequest('5'));
    await clock.waitForSleep(5000);

    expect(await service.data('/me/credits')).toEqual({ credits: before.credits - 1 });

    clock.advance(5000);
    await creation;

    expect(await service.data('/me/credits')).toEqual({ credits: before.credits - 1 });
    expect((await getOnlyRow()).credits).toBe(1);
  });

  test('are given back if it fails, and null in the list', async () => {
    service = await TestService.start();
    const before = await service.data('/me/credits');
    const promptVersionId = await service.versionOf('sandbox');
    await service.post('/runs', { promptVersionId, inputs: {}, runOptions: { outcome: 'failed' } });
    expect(await service.data('/me/credits')).toEqual(before);
    expect((await getOnlyRow()).credits).toBeNull();
  });
});
