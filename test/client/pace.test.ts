import { describe, expect, it } from 'vitest';
import type { Pace } from '../../src/client/request-options.ts';
import { startScriptedClient } from '../support/client.ts';
import { type Exchange, failure, html, success } from '../support/scripted-service.ts';

const run = { runId: 'r', runStatus: 'succeeded', outputs: [], tokens: 1 };
const limited = failure(429, 'TOO_MANY_REQUESTS_ERROR', 'slow down', null, { 'retry-after': '2' });
const TURN = 'turn';

/** A pace that lets everything through and records its calls. */
class CountingPace implements Pace {
  readonly calls: string[] = [];

  turn(): Promise<void> {
    this.calls.push(TURN);
    return Promise.resolve();
  }

  answered({ limited: isLimited, retryAfterMs }: Parameters<Pace['answered']>[0]): void {
    this.calls.push(isLimited ? `limited for ${retryAfterMs} ms` : 'answered');
  }
}

async function startScript(...script: readonly Exchange[]) {
  return { ...(await startScriptedClient(script)), pace: new CountingPace() };
}

describe('a pace', () => {
  it('is asked before each try of a request, and learns how it ended', async () => {
    const { client, pace } = await startScript(
      { answer: limited },
      { answer: 'close' },
      { answer: success(run) },
    );
    await client.runs.get('r', { pace });
    expect(pace.calls).toEqual([TURN, 'limited for 2000 ms', TURN, 'answered', TURN, 'answered']);
  });

  it('is asked before each try of a download', async () => {
    const { client, pace, service } = await startScript(
      { answer: limited },
      { answer: html(503) },
      { answer: html(200, 'picture') },
    );
    const { body } = await client.download(`${service.origin}/a.png`, { pace });
    await body[Symbol.asyncIterator]().return?.();
    expect(pace.calls).toEqual([TURN, 'limited for 2000 ms', TURN, 'answered', TURN, 'answered']);
  });

  it('is asked before each poll', async () => {
    const { client, pace } = await startScript(
      { answer: success({ ...run, runStatus: 'running' }) },
      { answer: success(run) },
    );
    await client.waitForRun('r', { pace });
    expect(pace.calls).toEqual([TURN, 'answered', TURN, 'answered']);
  });

  it('can belong to a copy of a client that shares everything else with the original', async () => {
    const headers = { idempotency: 'supported' };
    const { client, pace, service } = await startScript(
      { answer: success(run, headers) },
      { answer: html(200, 'picture') },
      { answer: success(run) },
    );

    const paced = client.withPace(pace);
    await paced.runs.get('r');
    const { body } = await paced.download(`${service.origin}/a.png`);
    await body[Symbol.asyncIterator]().return?.();

    expect(pace.calls).toEqual([TURN, 'answered', TURN, 'answered']);
    expect(client.keepsIdempotencyKeys).toBe(true);
    expect(client.clock.offsetMs).toBe(paced.clock.offsetMs);

    await client.runs.get('r');
    expect(pace.calls).toHaveLength(4);
  });

  it('stops waiting when a signal for what is not sent yet aborts', async () => {
    const { client, service } = await startScript({ answer: limited }, { answer: success(run) });
    const stopping = new AbortController();
    const waitingPace: Pace = {
      turn: async signal => signal?.throwIfAborted(),
      answered: () => {},
    };
    const request = client.request('GET', '/runs/r', {
      pace: waitingPace,
      unsentSignal: stopping.signal,
    });

    await expect(request).resolves.toMatchObject({ data: run });

    stopping.abort(new Error('enough'));
    const unsentRequest = client.request('GET', '/runs/r', {
      pace: waitingPace,
      unsentSignal: stopping.signal,
    });

    await expect(unsentRequest).rejects.toThrow('enough');

    service.verify();
  });

  it('sends nothing once its turn was refused', async () => {
    const { client, service } = await startScript();
    const refusing = { turn: () => Promise.reject(new Error('enough')), answered: () => {} };
    await expect(client.runs.get('r', { pace: refusing })).rejects.toThrow('enough');
    await expect(client.download(`${service.origin}/a.png`, { pace: refusing })).rejects.toThrow(
      'enough',
    );
  });
});
