import { afterEach, describe, expect, it } from 'vitest';
import {
  GatewayTimeoutError,
  InvalidRequestError,
  NetworkError,
  NotFoundError,
  ProtocolError,
  RateLimitError,
  ServiceError,
} from '../../src/client/errors.ts';
import { answerIsLost, findLostRun } from '../../src/client/recover.ts';
import type { RunRow } from '../../src/wire/index.ts';
import { TestClient } from '../support/client.ts';
import {
  type Exchange,
  type ScriptedService,
  scriptedService,
  success,
} from '../support/scripted-service.ts';

/** The service's clock is an hour behind the local one, unless a test says otherwise. */
const HOUR = 3_600_000;
const LOCAL = Date.parse('2026-01-02T04:04:05.700Z');
const SERVICE = LOCAL - HOUR;
/** How much earlier is asked for. */
const MARGIN = 2000;
const NONE: ReadonlySet<string> = new Set();

let service: ScriptedService;
let client: TestClient;

async function scripted(...script: readonly Exchange[]): Promise<void> {
  service = await scriptedService(...script);
  client = new TestClient(service.baseUrl, { now: () => LOCAL });
}

afterEach(async () => {
  await client.close();
  await service.close();
  service.verify();
});

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
  const { hasMore = false, at = SERVICE } = options;
  return success({ rows, hasMore }, { date: new Date(at).toUTCString() });
}

const seconds = (ms: number): string => String(Math.floor(ms / 1000));
const find = (knownRunIds = NONE): ReturnType<typeof findLostRun> =>
  findLostRun(client, { promptVersionId: 'v', sentAt: LOCAL, knownRunIds });

describe('findLostRun', () => {
  it('goes on with the only run that fits, by the clock of the service', async () => {
    const before = page([]);
    const since = seconds(SERVICE - 700);
    const mine = row('mine', SERVICE + 400);
    await scripted(
      { answer: before },
      {
        expect: { path: '/runs', query: { since, limit: '50' } },
        answer: page([row('other', SERVICE, 'w'), mine]),
      },
    );
    await client.runs.list();
    await expect(find()).resolves.toEqual({ found: mine, candidates: [mine] });
  });

  it('learns the time from the search itself, where the service is behind', async () => {
    const mine = row('mine', SERVICE + 1000);
    await scripted(
      { expect: { query: { since: seconds(LOCAL - MARGIN) } }, answer: page([]) },
      { expect: { query: { since: seconds(SERVICE - 700) } }, answer: page([mine]) },
    );
    await expect(find()).resolves.toMatchObject({ found: mine });
  });

  it('and where it is ahead, leaving out what is older', async () => {
    const at = LOCAL + HOUR;
    const mine = row('mine', at);
    const older = row('older', at - 60_000);
    await scripted({
      expect: { query: { since: seconds(LOCAL - MARGIN) } },
      answer: page([mine, older], { at }),
    });
    await expect(find()).resolves.toEqual({ found: mine, candidates: [mine] });
  });

  it('looks once where the clocks agree but for the rounding and the way', async () => {
    const at = LOCAL - 1000;
    const mine = row('mine', at);
    const older = row('older', at - 1000);
    await scripted({ answer: page([mine, older], { at }) });
    await expect(find()).resolves.toEqual({ found: mine, candidates: [mine] });
  });

  it('allows for the second of the creation', async () => {
    const mine = row('mine', Math.floor(LOCAL / 1000) * 1000);
    await scripted({ answer: page([mine], { at: LOCAL }) });
    await expect(find()).resolves.toMatchObject({ found: mine });
  });

  it('leaves out runs that are known', async () => {
    const mine = row('mine', LOCAL);
    await scripted({ answer: page([row('known', LOCAL), mine], { at: LOCAL }) });
    await expect(find(new Set(['known']))).resolves.toMatchObject({ found: mine });
  });

  it('does not choose between two', async () => {
    const rows = [row('b', LOCAL + 1000), row('a', LOCAL)];
    await scripted({ answer: page(rows, { at: LOCAL }) });
    await expect(find()).resolves.toEqual({ candidates: rows });
  });

  it('finds nothing where nothing fits', async () => {
    await scripted({ answer: page([row('x', LOCAL, 'w'), row('y', LOCAL - 5000)], { at: LOCAL }) });
    await expect(find()).resolves.toEqual({ candidates: [] });
  });

  it('looks through every page', async () => {
    const mine = row('mine', LOCAL);
    await scripted(
      { answer: page([row('x', LOCAL, 'w')], { at: LOCAL, hasMore: true }) },
      {
        expect: { query: { startingAfter: 'x', since: seconds(LOCAL - MARGIN) } },
        answer: page([mine], { at: LOCAL }),
      },
    );
    await expect(find()).resolves.toMatchObject({ found: mine });
  });

  it('does without a clock of the service', async () => {
    const mine = row('mine', LOCAL);
    await scripted({ answer: success({ rows: [mine], hasMore: false }, { date: 'no date' }) });
    await expect(find()).resolves.toMatchObject({ found: mine });
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
    new ServiceError('UNAVAILABLE', 'x', { httpStatus: 503 }),
  ])('says yes to %o', error => {
    expect(answerIsLost(error)).toBe(true);
  });

  it.each([
    new NetworkError('x', { nothingSent: true }),
    new ProtocolError('redirect', { httpStatus: 307 }),
    new ProtocolError('x', { httpStatus: 403 }),
    new GatewayTimeoutError('GATEWAY_TIMEOUT_ERROR', 'x', { ...options, runId: 'r' }),
    new ServiceError('SERVER_ERROR', 'x', { httpStatus: 500 }),
    new NotFoundError('NOT_FOUND_ERROR', 'x', { httpStatus: 404 }),
    new RateLimitError('TOO_MANY_REQUESTS_ERROR', 'x', { httpStatus: 429 }),
    new InvalidRequestError('x'),
    new Error('aborted'),
    undefined,
  ])('says no to %o', error => {
    expect(answerIsLost(error)).toBe(false);
  });
});
