import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { RunPage, RunRow } from '../../src/wire/index.ts';
import { storeRuns } from '../support/databases/stored-runs.ts';
import { HandClock } from '../support/hand-clock.ts';
import { createKeyIn, TestService } from '../support/local-service.ts';

const START = Date.UTC(2026, 0, 2, 3, 4, 5);
const COUNT = 60;

let service: TestService;

/** Newest first; one a second, every tenth failed. */
let all: RunRow[];
let otherKey: string;

beforeAll(async () => {
  const clock = new HandClock(START);
  service = await TestService.start({ clock });

  const promptVersionId = await service.versionOf('sandbox');
  for (let index = 0; index < COUNT; index += 1) {
    const outcome = index % 10 === 9 ? 'failed' : 'succeeded';
    await service.post('/runs', { promptVersionId, inputs: {}, runOptions: { outcome } });
    clock.advance(1000);
  }

  otherKey = await createKeyIn(service.dataDir, { user: 'somebody-else' });
  all = await listAllRows('');
}, 120_000);

afterAll(() => service.close());

const getPage = (query: string) => service.data<RunPage>(`/runs?${query}`);
const listIds = (rows: readonly RunRow[]) => rows.map(row => row.runId);

async function listAllRows(query: string): Promise<RunRow[]> {
  const rows: RunRow[] = [];
  for (let more = true, after = ''; more; ) {
    const next = await getPage(`limit=50&${query}${after}`);
    rows.push(...next.rows);
    more = next.hasMore;
    after = `&startingAfter=${next.rows.at(-1)?.runId}`;
  }
  return rows;
}

describe('GET /runs', () => {
  test('a row has credits, name and creation time, and no tokens', () => {
    expect(all).toHaveLength(COUNT);
    expect(Object.keys(all[0] ?? {})).toEqual([
      'runId',
      'promptVersionId',
      'outputs',
      'runStatus',
      'credits',
      'runName',
      'createdAt',
    ]);
    expect(all.at(-1)).toMatchObject({
      runName: 'Sandbox',
      createdAt: new Date(START).toISOString(),
    });
  });

  test('reports the usage of each run on request', async () => {
    const { rows } = await getPage('limit=2&usage=true');
    const usage = { model: 'sandbox', tokens: null, cost: 0, estimated: false };
    expect(rows).toEqual(all.slice(0, 2).map(row => ({ ...row, usage })));
    expect((await service.get('/runs?usage=yes')).http).toBe(422);
  });

  test('is newest first', () => {
    const times = all.map(row => Date.parse(row.createdAt));
    expect(times).toEqual([...times].sort((a, b) => b - a));
  });

  test('returns 10 rows without a limit, and says that there are more', async () => {
    expect(await getPage('')).toEqual({ rows: all.slice(0, 10), hasMore: true });
  });

  test.each([1, 7, 50])('returns %i rows with that limit', async limit => {
    expect(await getPage(`limit=${limit}`)).toEqual({ rows: all.slice(0, limit), hasMore: true });
  });

  test.each([1, 7, 10, 30, 50])('paging forward by %i returns every run once', async limit => {
    const seen: string[] = [];
    for (let query = `limit=${limit}`; ; ) {
      const { rows, hasMore } = await getPage(query);
      seen.push(...listIds(rows));
      if (!hasMore) break;
      query = `limit=${limit}&startingAfter=${seen.at(-1)}`;
    }
    expect(seen).toEqual(listIds(all));
  });

  test.each([1, 7, 30])(
    'paging backward by %i returns every newer run once, each page newest first',
    async limit => {
      let seen: string[] = [];
      const oldest = all.at(-1)?.runId;
      for (let cursor = oldest; ; ) {
        const { rows, hasMore } = await getPage(`limit=${limit}&endingBefore=${cursor}`);
        seen = [...listIds(rows), ...seen];
        if (!hasMore) break;
        cursor = rows[0]?.runId;
      }

      expect(seen).toEqual(listIds(all).slice(0, -1));
    },
  );

  test('endingBefore returns the runs nearest to the cursor', async () => {
    expect(await getPage(`limit=2&endingBefore=${all[5]?.runId}`)).toEqual({
      rows: all.slice(3, 5),
      hasMore: true,
    });
    expect(await getPage(`limit=5&endingBefore=${all[5]?.runId}`)).toEqual({
      rows: all.slice(0, 5),
      hasMore: false,
    });
    expect(await getPage(`endingBefore=${all[0]?.runId}`)).toEqual({ rows: [], hasMore: false });
  });

  test('startingAfter the oldest returns nothing more', async () => {
    expect(await getPage(`startingAfter=${all.at(-1)?.runId}`)).toEqual({
      rows: [],
      hasMore: false,
    });
  });

  test('a cursor in capital letters is the same run', async () => {
    const cursor = all[3]?.runId.toUpperCase();
    expect((await getPage(`limit=1&startingAfter=${cursor}`)).rows).toEqual([all[4]]);
  });

  test('since is inclusive, until exclusive, both in seconds', async () => {
    const second = START / 1000;
    const rows = await listAllRows(`since=${second + 10}&until=${second + 20}&`);
    expect(listIds(rows)).toEqual(listIds(all.slice(COUNT - 20, COUNT - 10)));
  });

  test('filters combine with each other and with cursors', async () => {
    const failed = all.filter(row => row.runStatus === 'failed');
    expect(failed).toHaveLength(6);
    expect(listIds(await listAllRows('status=failed&'))).toEqual(listIds(failed));

    const second = START / 1000;
    const query = `status=failed&since=${second}&until=${second + COUNT}&limit=2&startingAfter=${all[15]?.runId}`;
    const older = failed.filter(row => all.indexOf(row) > 15);

    expect(await getPage(query)).toEqual({ rows: older.slice(0, 2), hasMore: true });

    const back = await getPage(`status=failed&limit=2&endingBefore=${all[55]?.runId}`);
    const newer = failed.filter(row => all.indexOf(row) < 55);

    expect(back).toEqual({ rows: newer.slice(-2), hasMore: true });
  });

  test.each(['queued', 'running'])('status=%s returns none if there are none', async status => {
    expect(await getPage(`status=${status}`)).toEqual({ rows: [], hasMore: false });
  });

  test('far-off and negative times are times', async () => {
    expect((await getPage('since=-5&until=999999999999999')).rows).toHaveLength(10);
    expect((await getPage('until=-5')).rows).toEqual([]);
  });

  test('an unknown parameter is ignored', async () => {
    expect((await getPage('colour=blue&limit=1')).rows).toEqual(all.slice(0, 1));
  });

  test("returns only the caller's runs", async () => {
    expect(await service.data<RunPage>('/runs', { key: otherKey })).toEqual({
      rows: [],
      hasMore: false,
    });
  });
});

describe('GET /runs: 422 VALIDATION_ERROR', () => {
  const uuid = '00000000-0000-4000-8000-000000000000';
  test.each([
    [
      'both cursors',
      `startingAfter=${uuid}&endingBefore=${uuid}`,
      'startingAfter and endingBefore',
    ],
    ['since equal to until', 'since=5&until=5', 'since must be less than until'],
    ['since after until', 'since=6&until=5', 'since must be less than until'],
    ['a cursor that is not a UUID', 'startingAfter=x', 'startingAfter must be a UUID'],
    ['an empty cursor', 'endingBefore=', 'endingBefore must be a UUID'],
    ['limit 0', 'limit=0', 'limit must be at least 1'],
    ['limit 51', 'limit=51', 'limit must be at most 50'],
    ['limit -1', 'limit=-1', 'limit must be at least 1'],
    ['a limit with decimals', 'limit=5.0', 'limit must be an integer'],
    ['a limit in other notations', 'limit=1e1', 'limit must be an integer'],
    ['a hexadecimal limit', 'limit=0x10', 'limit must be an integer'],
    ['a limit with a space', 'limit=%205', 'limit must be an integer'],
    ['an empty limit', 'limit=', 'limit must be an integer'],
    ['two limits', 'limit=1&limit=2', 'limit must be an integer'],
    ['a since that is not a number', 'since=yesterday', 'since must be an integer'],
    [
      'an unknown status',
      'status=done',
      'status must be one of queued, running, succeeded, failed',
    ],
    ['an empty status', 'status=', 'status must be one of'],
  ])('%s', async (_, query, message) => {
    const answer = await service.get(`/runs?${query}`);
    expect(answer).toMatchObject({ http: 422, status: 'VALIDATION_ERROR', data: null });
    expect(answer.message).toContain(message);
  });

  test('404 for a cursor that is not a run of the caller', async () => {
    for (const name of ['startingAfter', 'endingBefore']) {
      const missing = await service.get(`/runs?${name}=${uuid}`);
      expect(missing).toMatchObject({ http: 404, status: 'NOT_FOUND_ERROR', data: null });
      const foreign = await service.get(`/runs?${name}=${all[0]?.runId}`, { key: otherKey });
      expect(foreign.http).toBe(404);
    }
  });
});

describe('GET /runs/:runId', () => {
  test('returns the run as its creation did', async () => {
    const promptVersionId = await service.versionOf('hello');
    const { data } = await service.post('/runs', {
      promptVersionId,
      inputs: { textInputs: { name: 'Ann' } },
    });
    expect(await service.data(`/runs/${(data as { runId: string }).runId}`)).toEqual(data);
  });

  test.each([
    ['unknown', '00000000-0000-4000-8000-000000000000'],
    ['no UUID', 'x'],
    ['long', 'x'.repeat(2000)],
    ['with a traversal', '..%2Fme'],
  ])('404 for an id that is %s', async (_, id) => {
    expect(await service.get(`/runs/${id}`)).toMatchObject({
      http: 404,
      status: 'NOT_FOUND_ERROR',
      data: null,
    });
  });

  test("404 for somebody else's run", async () => {
    expect((await service.get(`/runs/${all[0]?.runId}`, { key: otherKey })).http).toBe(404);
  });
});

test('runs created within one millisecond, or while the clock goes back, keep their order', async () => {
  const clock = new HandClock(START);
  const still = await TestService.forTest({ clock });

  const promptVersionId = await still.versionOf('hello');
  const created: string[] = [];
  for (let index = 0; index < 12; index += 1) {
    const { data } = await still.post<{ runId: string }>('/runs', {
      promptVersionId,
      inputs: { textInputs: { name: 'Ann' } },
    });
    created.unshift(data.runId);
    if (index === 6) clock.set(START - 3_600_000);
  }

  const first = await still.data<RunPage>('/runs?limit=5');
  const rest = await still.data<RunPage>(
    `/runs?limit=50&startingAfter=${first.rows.at(-1)?.runId}`,
  );

  expect(listIds([...first.rows, ...rest.rows])).toEqual(created);
});

describe('rows with large outputs', () => {
  test('come on pages of few rows, and paging returns each of them once', async () => {
    const key = await createKeyIn(service.dataDir, { user: 'writer' });
    const outputs = ['a', 'b'.repeat(6e6), 'c'.repeat(6e6), 'd'.repeat(6e6), 'e'];
    const runs = outputs.map(output => ({ output }));
    const created = await storeRuns({ service, slug: 'hello', user: 'writer' }, runs);
    const [a = '', b = '', c = '', d = '', e = ''] = created;

    const getIdsOnPage = async (query: string): Promise<[string[], boolean]> => {
      const { rows, hasMore } = await service.data<RunPage>(`/runs?limit=50${query}`, { key });
      return [listIds(rows), hasMore];
    };

    expect(await getIdsOnPage('')).toEqual([[e, d, c], true]);
    expect(await getIdsOnPage(`&startingAfter=${c}`)).toEqual([[b, a], false]);
    expect(await getIdsOnPage(`&endingBefore=${a}`)).toEqual([[c, b], true]);
    expect(await getIdsOnPage(`&endingBefore=${c}`)).toEqual([[e, d], false]);
  });
});
