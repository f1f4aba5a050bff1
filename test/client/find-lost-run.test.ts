import { describe, expect, it } from 'vitest';
import {
  GatewayTimeoutError,
  InvalidRequestError,
  NetworkError,
  NotFoundError,
  ProtocolError,
  RateLimitError,
  ServiceError,
} from '../../src/client/errors.ts';
import { answerIsLost, findLostRun, findLostRuns } from '../../src/client/find-lost-run.ts';
import type { RunRow } from '../../src/wire/index.ts';
import { startScriptedClient, type TestClient } from '../support/client.ts';
import { type Exchange, success } from '../support/scripted-service.ts';

/** The service's clock is an hour behind the local one, unless a test says otherwise. */
const HOUR_MS = 3_600_000;
const LOCAL_NOW = Date.parse('2026-01-02T04:04:05.700Z');
const SERVICE_NOW = LOCAL_NOW - HOUR_MS;

/** The time before the request from which runs are listed. */
const MARGIN_MS = 2000;

/** The longest time between a request and the creation of its run. */
const WINDOW_MS = 600_000;
const NO_RUN_IDS: ReadonlySet<string> = new Set();

function startScript(...script: readonly Exchange[]): ReturnType<typeof startScriptedClient> {
  return startScriptedClient(script, { now: () => LOCAL_NOW });
}

function row(runId: string, createdAt: number, promptVersionId = 'v'): RunRow {
  const when = new Date(createdAt).toISOString();
  return {
    runId,
    promptVersionId,
    outputs: [],
    runStatus: 'running',
    credits: null,
    runName: 'x',
    createdAt: when,
  };
}

function page(
  rows: readonly RunRow[],
  options: { hasMore?: boolean; at?: number } = {},
): ReturnType<typeof success> {
  const { hasMore = false, at = SERVICE_NOW } = options;
  return success({ rows, hasMore }, { date: new Date(at).toUTCString() });
}

const seconds = (ms: number): string => String(Math.floor(ms / 1000));

const findRunSentNow = (
  client: TestClient,
  knownRunIds = NO_RUN_IDS,
): ReturnType<typeof findLostRun> =>
  findLostRun(client, { promptVersionId: 'v', sentAt: LOCAL_NOW, knownRunIds });

describe('findLostRun', () => {
  it('finds the only run that fits, by the clock of the service', async () => {
    const before = page([]);
    const since = seconds(SERVICE_NOW - 700);
    const mine = row('mine', SERVICE_NOW + 400);
    const { client } = await startScript(
      { answer: before },
      {
        expect: {
          path: '/runs',
          query: { since, until: seconds(SERVICE_NOW - 700 + WINDOW_MS), limit: '50' },
        },
        answer: page([row('other', SERVICE_NOW, 'w'), mine]),
      },
    );

    await client.runs.list();
    await expect(findRunSentNow(client)).resolves.toEqual({ candidates: [mine], complete: true });
  });

  it('learns the time from the search itself if the service is behind', async () => {
    const mine = row('mine', SERVICE_NOW + 1000);
    const { client } = await startScript(
      { expect: { query: { since: seconds(LOCAL_NOW - MARGIN_MS) } }, answer: page([]) },
      { expect: { query: { since: seconds(SERVICE_NOW - 700) } }, answer: page([mine]) },
    );
    await expect(findRunSentNow(client)).resolves.toMatchObject({ candidates: [mine] });
  });

  it('learns the time if the service is ahead too, and leaves out older runs', async () => {
    const at = LOCAL_NOW + HOUR_MS;
    const mine = row('mine', at);
    const older = row('older', at - 60_000);
    const { client } = await startScript({
      expect: { query: { since: seconds(LOCAL_NOW - MARGIN_MS) } },
      answer: page([mine, older], { at }),
    });

    await expect(findRunSentNow(client)).resolves.toEqual({ candidates: [mine], complete: true });
  });

  it('searches once if the clocks agree except for rounding and transfer time', async () => {
    const at = LOCAL_NOW - 1000;
    const mine = row('mine', at);
    const older = row('older', at - 1000);
    const { client } = await startScript({ answer: page([mine, older], { at }) });
    await expect(findRunSentNow(client)).resolves.toEqual({ candidates: [mine], complete: true });
  });

  it('allows for the second of the creation', async () => {
    const mine = row('mine', Math.floor(LOCAL_NOW / 1000) * 1000);
    const { client } = await startScript({ answer: page([mine], { at: LOCAL_NOW }) });
    await expect(findRunSentNow(client)).resolves.toMatchObject({ candidates: [mine] });
  });

  it('leaves out runs that are known', async () => {
    const mine = row('mine', LOCAL_NOW);
    const { client } = await startScript({
      answer: page([row('known', LOCAL_NOW), mine], { at: LOCAL_NOW }),
    });
    await expect(findRunSentNow(client, new Set(['known']))).resolves.toMatchObject({
      candidates: [mine],
    });
  });

  it('names every run that fits, newest first', async () => {
    const rows = [row('b', LOCAL_NOW + 1000), row('a', LOCAL_NOW)];
    const { client } = await startScript({ answer: page(rows, { at: LOCAL_NOW }) });
    await expect(findRunSentNow(client)).resolves.toEqual({ candidates: rows, complete: true });
  });

  it('finds nothing if nothing matches', async () => {
    const { client } = await startScript({
      answer: page([row('x', LOCAL_NOW, 'w'), row('y', LOCAL_NOW - 5000)], { at: LOCAL_NOW }),
    });
    await expect(findRunSentNow(client)).resolves.toEqual({ candidates: [], complete: true });
  });

  it('requests only the minutes around the creation if many runs came since', async () => {
    const mine = row('mine', LOCAL_NOW);
    const window = { since: seconds(LOCAL_NOW), until: seconds(LOCAL_NOW + WINDOW_MS) };
    const { client } = await startScript(
      {
        expect: { query: { until: null } },
        answer: page([row('x', LOCAL_NOW)], { at: LOCAL_NOW, hasMore: true }),
      },
      {
        expect: { query: { ...window, startingAfter: null } },
        answer: page([row('y', LOCAL_NOW, 'w')], { at: LOCAL_NOW, hasMore: true }),
      },
      {
        expect: { query: { ...window, startingAfter: 'y' } },
        answer: page([mine], { at: LOCAL_NOW }),
      },
    );
    await expect(findRunSentNow(client)).resolves.toMatchObject({
      candidates: [mine],
      complete: true,
    });
  });

  it('leaves out runs that were created more than ten minutes later', async () => {
    const rows = [row('later', LOCAL_NOW + WINDOW_MS + 1000), row('mine', LOCAL_NOW)];
    const { client } = await startScript({ answer: page(rows, { at: LOCAL_NOW }) });
    await expect(findRunSentNow(client)).resolves.toMatchObject({ candidates: [rows[1]] });
  });

  it('stops after as many pages as it may read, and says so', async () => {
    const pages = ['a', 'b', 'c'].map(id => ({
      answer: page([row(id, LOCAL_NOW)], { at: LOCAL_NOW, hasMore: true }),
    }));
    const { client } = await startScript(...pages);
    const creation = {
      promptVersionId: 'v',
      sentAt: LOCAL_NOW,
      knownRunIds: new Set(['b']),
      maxPages: 3,
    };
    const result = await findLostRun(client, creation);
    expect(result).toEqual({ candidates: [row('c', LOCAL_NOW)], complete: false });
  });

  it('goes by the offset of the clock that was noted at the time, whatever the clocks say now', async () => {
    const mine = row('mine', SERVICE_NOW);
    const { client } = await startScript({
      expect: { query: { since: seconds(SERVICE_NOW - 700) } },
      answer: page([mine, row('older', SERVICE_NOW - 60_000)], { at: LOCAL_NOW + HOUR_MS }),
    });
    const creation = {
      promptVersionId: 'v',
      sentAt: LOCAL_NOW,
      clockOffsetMs: -HOUR_MS - 700,
      knownRunIds: NO_RUN_IDS,
    };

    await expect(findLostRun(client, creation)).resolves.toMatchObject({ candidates: [mine] });
    expect(client.clock.offsetMs).toBe(HOUR_MS - 700);
  });

  it('does without a clock of the service', async () => {
    const mine = row('mine', LOCAL_NOW);
    const { client } = await startScript({
      answer: success({ rows: [mine], hasMore: false }, { date: 'no date' }),
    });
    await expect(findRunSentNow(client)).resolves.toMatchObject({ candidates: [mine] });
  });
});

describe('findLostRuns', () => {
  it('looks for many creations with one pass over the list', async () => {
    const [first, second] = [row('first', LOCAL_NOW, 'v'), row('second', LOCAL_NOW + 60_000, 'w')];
    const { client } = await startScript({ answer: page([second, first], { at: LOCAL_NOW }) });
    const creations = [
      { promptVersionId: 'w', sentAt: LOCAL_NOW + 60_000 },
      { promptVersionId: 'v', sentAt: LOCAL_NOW + 60_000 },
      { promptVersionId: 'v', sentAt: LOCAL_NOW },
    ];
    const results = await findLostRuns(client, creations, { knownRunIds: NO_RUN_IDS });

    expect(results.map(({ candidates }) => candidates)).toEqual([[second], [], [first]]);
  });

  it('leaves out the time in between if creations lie far apart', async () => {
    const old = LOCAL_NOW - 50 * HOUR_MS;
    const { client } = await startScript(
      { answer: page([], { at: LOCAL_NOW }) },
      {
        expect: {
          query: {
            since: seconds(LOCAL_NOW - 700),
            until: seconds(LOCAL_NOW + 60_000 - 700 + WINDOW_MS),
          },
        },
        answer: page([row('new', LOCAL_NOW)], { at: LOCAL_NOW }),
      },
      {
        expect: { query: { since: seconds(old - 700), until: seconds(old - 700 + WINDOW_MS) } },
        answer: page([row('old', old)], { at: LOCAL_NOW }),
      },
    );

    await client.runs.list();
    const creations = [old, LOCAL_NOW + 60_000, LOCAL_NOW].map(sentAt => ({
      promptVersionId: 'v',
      sentAt,
    }));
    const results = await findLostRuns(client, creations, { knownRunIds: NO_RUN_IDS });

    expect(results.map(({ candidates }) => candidates.map(({ runId }) => runId))).toEqual([
      ['old'],
      [],
      ['new'],
    ]);
  });

  it('marks all as incomplete if the pages did not suffice for one', async () => {
    const { client } = await startScript(
      { answer: page([], { at: LOCAL_NOW }) },
      { answer: page([row('new', LOCAL_NOW)], { at: LOCAL_NOW }) },
    );
    await client.runs.list();
    const creations = [LOCAL_NOW, LOCAL_NOW - 50 * HOUR_MS].map(sentAt => ({
      promptVersionId: 'v',
      sentAt,
    }));
    const results = await findLostRuns(client, creations, { knownRunIds: NO_RUN_IDS, maxPages: 1 });

    expect(results.map(({ complete }) => complete)).toEqual([false, false]);
  });

  it('sends nothing if there is nothing to find', async () => {
    const { client } = await startScript();
    await expect(findLostRuns(client, [], { knownRunIds: NO_RUN_IDS })).resolves.toEqual([]);
  });
});

describe('answerIsLost', () => {
  const options = { httpStatus: 504, data: null };

  it.each([
    new NetworkError('x', { nothingSent: false }),
    new ProtocolError('x', { httpStatus: 502 }),
    new ProtocolError('x', { httpStatus: 503 }),
    new ProtocolError('x', { httpStatus: 504 }),
    new ProtocolError('x', { httpStatus: 500 }),
    new ProtocolError('truncated', { httpStatus: 200 }),
    new ServiceError('GATEWAY_TIMEOUT_ERROR', 'no run id', options),
  ])('says yes to %o', error => {
    expect(answerIsLost(error)).toBe(true);
  });

  it.each([
    new NetworkError('x', { nothingSent: true }),
    new ProtocolError('redirect', { httpStatus: 307 }),
    new ProtocolError('x', { httpStatus: 403 }),
    new GatewayTimeoutError('GATEWAY_TIMEOUT_ERROR', 'x', { ...options, runId: 'r' }),
    ...[500, 502, 503].map(httpStatus => new ServiceError('SERVER_ERROR', 'x', { httpStatus })),
    new NotFoundError('NOT_FOUND_ERROR', 'x', { httpStatus: 404 }),
    new RateLimitError('TOO_MANY_REQUESTS_ERROR', 'x', { httpStatus: 429 }),
    new InvalidRequestError('x'),
    new Error('aborted'),
    undefined,
  ])('says no to %o', error => {
    expect(answerIsLost(error)).toBe(false);
  });
});
