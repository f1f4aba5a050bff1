import { describe, expect, it } from 'vitest';
import {
  NotFoundError,
  ProtocolError,
  UnauthorizedError,
  WaitTimeoutError,
} from '../../src/client/errors.ts';
import { type PollEvent, waitForRun } from '../../src/client/wait-for-run.ts';
import { getRejection, startScriptedClient } from '../support/client.ts';
import {
  type Exchange,
  failure,
  html,
  type ScriptedAnswer,
  success,
} from '../support/scripted-service.ts';

const running = success({ runId: 'r', runStatus: 'running', outputs: [], tokens: 0 });
const queued = success({ runId: 'r', runStatus: 'queued', outputs: [], tokens: 0 });

const succeededRun = {
  runId: 'r',
  runStatus: 'succeeded',
  outputs: [{ type: 'text', data: 'x' }],
  tokens: 3,
};

const limited = failure(429, 'TOO_MANY_REQUESTS_ERROR', 'slow down');

function startScript(...script: readonly Exchange[]): ReturnType<typeof startScriptedClient> {
  return startScriptedClient(script, { random: () => 0 });
}

describe('waitForRun', () => {
  it('is a method of the client as well, with the same options', async () => {
    const { client } = await startScript(
      { expect: { method: 'GET', path: '/runs/r' }, answer: running },
      { expect: { method: 'GET', path: '/runs/r' }, answer: success(succeededRun) },
    );
    const statuses: (string | undefined)[] = [];
    const onPoll = ({ run }: PollEvent): void => void statuses.push(run?.runStatus);

    await expect(client.waitForRun('r', { onPoll })).resolves.toEqual(succeededRun);
    expect(statuses).toEqual(['running', 'succeeded']);
  });

  it.each(['succeeded', 'failed'])('returns the run once it has %s', async runStatus => {
    const run = { ...succeededRun, runStatus };
    const expectation = { method: 'GET', path: '/runs/r' };
    const { client } = await startScript(
      { expect: expectation, answer: queued },
      { expect: expectation, answer: running },
      { expect: expectation, answer: success(run) },
    );
    await expect(waitForRun(client, 'r')).resolves.toEqual(run);
  });

  it('asks at once, then from every second up to every ten', async () => {
    const { client } = await startScript(
      { answer: running, times: 9 },
      { answer: success(succeededRun) },
    );
    await waitForRun(client, 'r');
    expect(client.slept.map(Math.round)).toEqual([
      1000, 1500, 2250, 3375, 5063, 7594, 9000, 9000, 9000,
    ]);
  });

  it('can let one interval pass first', async () => {
    const { client } = await startScript({ answer: success(succeededRun) });
    await waitForRun(client, 'r', { delayFirst: true });
    expect(client.slept).toEqual([1000]);
  });

  it('spreads its intervals', async () => {
    const { client } = await startScript(
      { answer: running },
      { answer: running },
      { answer: success(succeededRun) },
    );
    const chances = [0, 1];
    await waitForRun(client, 'r', { random: () => chances.shift() ?? 0 });
    expect(client.slept.map(Math.round)).toEqual([1000, 1650]);
  });

  it('waits out faults that pass', async () => {
    const faults: ScriptedAnswer[] = [
      'reset-after-body',
      failure(500, 'SERVER_ERROR', 'x'),
      html(502),
      html(504),
      limited,
      'close',
      { ...running, cutAfter: 4 },
    ];
    const { client } = await startScript(...faults.map(answer => ({ answer })), {
      answer: success(succeededRun),
    });
    const events: PollEvent[] = [];

    await expect(waitForRun(client, 'r', { onPoll: event => events.push(event) })).resolves.toEqual(
      succeededRun,
    );
    expect(events.map(({ polls }) => polls)).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
    expect(events.filter(({ error }) => error !== undefined)).toHaveLength(7);
    expect(events.at(-1)?.run).toEqual(succeededRun);
  });

  it('waits as long as a 429 asks for, at most a minute', async () => {
    const { client } = await startScript(
      { answer: { ...limited, headers: { 'retry-after': '30' } } },
      { answer: { ...limited, headers: { 'retry-after': '3600' } } },
      { answer: success(succeededRun) },
    );
    await waitForRun(client, 'r');
    expect(client.slept).toEqual([30_000, 60_000]);
  });

  it('ends at once if a 429 asks to wait longer than the time left', async () => {
    const { client } = await startScript({
      answer: { ...limited, headers: { 'retry-after': '30' } },
    });
    await getRejection(waitForRun(client, 'r', { timeoutMs: 20_000 }), WaitTimeoutError);
    expect(client.slept).toEqual([]);
  });

  it.each<[ScriptedAnswer, abstract new (...args: never[]) => Error]>([
    [failure(404, 'NOT_FOUND_ERROR', 'x'), NotFoundError],
    [failure(401, 'UNAUTHORIZED_ERROR', 'x'), UnauthorizedError],
    [html(200), ProtocolError],
    [{ status: 302, headers: { location: 'https://elsewhere.example/' } }, ProtocolError],
  ])('is ended by a fault that does not pass', async (answer, type) => {
    const { client } = await startScript({ answer: running }, { answer });
    await getRejection(waitForRun(client, 'r'), type);
  });

  it('says since when no poll was answered, and why', async () => {
    const { client } = await startScript(
      { answer: running },
      { answer: html(502) },
      { answer: 'close' },
      { answer: running },
      { answer: html(503) },
      { answer: success(succeededRun) },
    );

    const events: PollEvent[] = [];
    await waitForRun(client, 'r', { onPoll: event => events.push(event) });
    const seconds = events.map(({ failingMs }) => Math.round(failingMs / 1000));

    // The waits in between are 1, 1.5, 2.25, … s.
    expect(seconds).toEqual([0, 0, 2, 0, 0, 0]);

    const reasons = events.map(({ error }) =>
      error?.message.replace(/.*(HTTP \d+|closed).*/s, '$1'),
    );
    expect(reasons).toEqual([undefined, 'HTTP 502', 'closed', undefined, 'HTTP 503', undefined]);
  });

  it('asks for a minute for a run that is missing though the service itself gave its id', async () => {
    const missing = failure(404, 'NOT_FOUND_ERROR', 'no such run');
    const { client } = await startScript(
      { answer: missing, times: 4 },
      { answer: html(502) },
      { answer: missing },
      { answer: success(succeededRun) },
    );
    await expect(waitForRun(client, 'r', { idFromService: true })).resolves.toEqual(succeededRun);
  });

  it('gives up on a run that is missing for more than a minute', async () => {
    const { client } = await startScript({
      answer: failure(404, 'NOT_FOUND_ERROR', 'no such run'),
      times: 'any',
    });
    await getRejection(waitForRun(client, 'r', { idFromService: true }), NotFoundError);
    const waited = client.slept.reduce((sum, ms) => sum + ms);
    expect(waited).toBeGreaterThan(55_000);
    expect(waited).toBeLessThan(75_000);
  });

  it('counts the minute anew when the run was there in between', async () => {
    const missing = failure(404, 'NOT_FOUND_ERROR', 'no such run');
    const { client } = await startScript(
      { answer: missing, times: 8 },
      { answer: running },
      { answer: missing, times: 4 },
      { answer: success(succeededRun) },
    );
    await expect(waitForRun(client, 'r', { idFromService: true })).resolves.toEqual(succeededRun);
  });

  it('is ended at once by a 401 in the midst of faults that pass', async () => {
    const { client } = await startScript(
      { answer: html(502), times: 2 },
      { answer: failure(401, 'UNAUTHORIZED_ERROR', 'x') },
    );
    await getRejection(waitForRun(client, 'r', { idFromService: true }), UnauthorizedError);
  });

  it('gives up in the midst of a poll that is not answered', async () => {
    const { client } = await startScript({ answer: running }, { answer: 'silence', times: 'any' });
    let now = 0;
    const onPoll = (): void => {
      now = now === 0 ? 60_000 : 60_020;
    };

    const waiting = waitForRun(client, 'r', {
      timeoutMs: 60_020,
      intervalMs: 0,
      now: () => now,
      onPoll,
    });
    await getRejection(waiting, WaitTimeoutError);
  });

  it('gives up when its time is over, naming the run', async () => {
    const { client } = await startScript({ answer: running, times: 3 });
    const error = await getRejection(
      waitForRun(client, 'r', { timeoutMs: 3000 }),
      WaitTimeoutError,
    );
    expect(error.runId).toBe('r');
    const waited = client.slept.reduce((sum, ms) => sum + ms);
    expect(waited).toBeLessThanOrEqual(3000);
  });

  it('is ended at once by its signal', async () => {
    const { client } = await startScript({ answer: running, times: 2 });
    const controller = new AbortController();
    const reason = new Error('enough');
    const onPoll = ({ polls }: PollEvent): void => {
      if (polls === 2) controller.abort(reason);
    };

    await expect(waitForRun(client, 'r', { signal: controller.signal, onPoll })).rejects.toBe(
      reason,
    );
  });
});
