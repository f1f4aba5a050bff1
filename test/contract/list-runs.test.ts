import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { RunPage, RunRow } from '../../src/wire/index.ts';
import { storeRuns } from '../support/databases/stored-runs.ts';
import { HandClock } from '../support/hand-clock.ts';
import { createKeyIn, TestService } from '../support/local-service.ts';

const UNKNOWN_ID = '00000000-0000-4000-8000-000000000000';

const START = Date.UTC(2026, 0, 2, 3, 4, 5);
const RUN_COUNT = 60;

let service: TestService;

/** The runs of the user, newest first: one a second, of which every tenth failed. */
let allRows: RunRow[];
let otherKey: string;

beforeAll(async () => {
  const clock = new HandClock(START);
  service = await TestService.start({ clock });

  const promptVersionId = await service.versionOf('sandbox');
  for (let index = 0; index < RUN_COUNT; index += 1) {
    const outcome = index % 10 === 9 ? 'failed' : 'succeeded';
    await service.post('/runs', { promptVersionId, inputs: {}, runOptions: { outcome } });
    clock.advance(1000);
  }

  otherKey = await createKeyIn(service.dataDir, { user: 'somebody-else' });
  allRows = await listAllRows('');
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

describe('the list of GET /runs', () => {
  test('has the credits, name and creation time of each run, but not its tokens', () => {
    expect(allRows).toHaveLength(RUN_COUNT);
    expect(Object.keys(allRows[0] ?? {})).toEqual([
      'runId',
      'promptVersionId',
      'outputs',
      'runStatus',
      'credits',
      'runName',
      'createdAt',
    ]);
    expect(allRows.at(-1)).toMatchObject({
      runName: 'Sandbox',
      createdAt: new Date(START).toISOString(),
    });
  });

  test('has the usage of each run if usage=true asks for it', async () => {
    const { rows } = await getPage('limit=2&usage=true');
    const usage = { model: 'sandbox', tokens: null, cost: 0, estimated: false };
    expect(rows).toEqual(allRows.slice(0, 2).map(row => ({ ...row, usage })));
    expect((await service.get('/runs?usage=yes')).http).toBe(422);
  });

  test('is newest first', () => {
    const times = allRows.map(row => Date.parse(row.createdAt));
    expect(times).toEqual([...times].sort((a, b) => b - a));
  });

  test('has 10 rows without a limit, and says that there are more', async () => {
    expect(await getPage('')).toEqual({ rows: allRows.slice(0, 10), hasMore: true });
  });

  test.each([1, 7, 50])('has %i rows with that limit', async limit => {
    expect(await getPage(`limit=${limit}`)).toEqual({
      rows: allRows.slice(0, limit),
      hasMore: true,
    });
  });

  test.each([1, 7, 10, 30, 50])('has every run once if it is paged forward by %i', async limit => {
    const seen: string[] = [];
    for (let query = `limit=${limit}`; ; ) {
      const { rows, hasMore } = await getPage(query);
      seen.push(...listIds(rows));
      if (!hasMore) break;
      query = `limit=${limit}&startingAfter=${seen.at(-1)}`;
    }
    expect(seen).toEqual(listIds(allRows));
  });

  test.each([1, 7, 30])(
    'has every newer run once if it is paged backward by %i, newest first on each page',
    async limit => {
      let seen: string[] = [];
      const oldest = allRows.at(-1)?.runId;
      for (let cursor = oldest; ; ) {
        const { rows, hasMore } = await getPage(`limit=${limit}&endingBefore=${cursor}`);
        seen = [...listIds(rows), ...seen];
        if (!hasMore) break;
        cursor = rows[0]?.runId;
      }

      expect(seen).toEqual(listIds(allRows).slice(0, -1));
    },
  );

  test('has the nearest newer runs with endingBefore', async () => {
    expect(await getPage(`limit=2&endingBefore=${allRows[5]?.runId}`)).toEqual({
      rows: allRows.slice(3, 5),
      hasMore: true,
    });
    expect(await getPage(`limit=5&endingBefore=${allRows[5]?.runId}`)).toEqual({
      rows: allRows.slice(0, 5),
      hasMore: false,
    });
    expect(await getPage(`endingBefore=${allRows[0]?.runId}`)).toEqual({
      rows: [],
      hasMore: false,
    });
  });

  test('is empty after the oldest run', async () => {
    expect(await getPage(`startingAfter=${allRows.at(-1)?.runId}`)).toEqual({
      rows: [],
      hasMore: false,
    });
  });

  test('accepts a cursor in capital letters', async () => {
    const cursor = allRows[3]?.runId.toUpperCase();
    expect((await getPage(`limit=1&startingAfter=${cursor}`)).rows).toEqual([allRows[4]]);
  });

  test('begins with the runs at the second of since, and ends before that of until', async () => {
    const second = START / 1000;
    const rows = await listAllRows(`since=${second + 10}&until=${second + 20}&`);
    expect(listIds(rows)).toEqual(listIds(allRows.slice(RUN_COUNT - 20, RUN_COUNT - 10)));
  });

  test('can be filtered by status, time and cursor at once', async () => {
    const failed = allRows.filter(row => row.runStatus === 'failed');
    expect(failed).toHaveLength(6);
    expect(listIds(await listAllRows('status=failed&'))).toEqual(listIds(failed));

    const second = START / 1000;
    const query = `status=failed&since=${second}&until=${second + RUN_COUNT}&limit=2&startingAfter=${allRows[15]?.runId}`;
    const older = failed.filter(row => allRows.indexOf(row) > 15);

    expect(await getPage(query)).toEqual({ rows: older.slice(0, 2), hasMore: true });

    const newerPage = await getPage(`status=failed&limit=2&endingBefore=${allRows[55]?.runId}`);
    const newer = failed.filter(row => allRows.indexOf(row) < 55);

    expect(newerPage).toEqual({ rows: newer.slice(-2), hasMore: true });
  });

  test.each(['queued', 'running'])('is empty for status=%s if no run has it', async status => {
    expect(await getPage(`status=${status}`)).toEqual({ rows: [], hasMore: false });
  });

  test('accepts times that are far off or negative', async () => {
    expect((await getPage('since=-5&until=999999999999999')).rows).toHaveLength(10);
    expect((await getPage('until=-5')).rows).toEqual([]);
  });

  test('ignores an unknown parameter', async () => {
    expect((await getPage('colour=blue&limit=1')).rows).toEqual(allRows.slice(0, 1));
  });

  test("has only the caller's runs", async () => {
    expect(await service.data<RunPage>('/runs', { key: otherKey })).toEqual({
      rows: [],
      hasMore: false,
    });
  });
});

describe('GET /runs', () => {
  test.each([
    {
      what: 'both cursors',
      query: `startingAfter=${UNKNOWN_ID}&endingBefore=${UNKNOWN_ID}`,
      message: 'startingAfter and endingBefore',
    },
    {
      what: 'since equal to until',
      query: 'since=5&until=5',
      message: 'since must be less than until',
    },
    {
      what: 'since after until',
      query: 'since=6&until=5',
      message: 'since must be less than until',
    },
    {
      what: 'a cursor that is not a UUID',
      query: 'startingAfter=x',
      message: 'startingAfter must be a UUID',
    },
    { what: 'an empty cursor', query: 'endingBefore=', message: 'endingBefore must be a UUID' },
    { what: 'limit 0', query: 'limit=0', message: 'limit must be at least 1' },
    { what: 'limit 51', query: 'limit=51', message: 'limit must be at most 50' },
    { what: 'limit -1', query: 'limit=-1', message: 'limit must be at least 1' },
    { what: 'a limit with decimals', query: 'limit=5.0', message: 'limit must be an integer' },
    { what: 'a limit in other notations', query: 'limit=1e1', message: 'limit must be an integer' },
    { what: 'a hexadecimal limit', query: 'limit=0x10', message: 'limit must be an integer' },
    { what: 'a limit with a space', query: 'limit=%205', message: 'limit must be an integer' },
    { what: 'an empty limit', query: 'limit=', message: 'limit must be an integer' },
    { what: 'two limits', query: 'limit=1&limit=2', message: 'limit must be an integer' },
    {
      what: 'a since that is not a number',
      query: 'since=yesterday',
      message: 'since must be an integer',
    },
    {
      what: 'an unknown status',
      query: 'status=done',
      message: 'status must be one of queued, running, succeeded, failed',
    },
    { what: 'an empty status', query: 'status=', message: 'status must be one of' },
  ])('answers 422, with the rule, to $what', async ({ query, message }) => {
    const answer = await service.get(`/runs?${query}`);
    expect(answer).toMatchObject({ http: 422, status: 'VALIDATION_ERROR', data: null });
    expect(answer.message).toContain(message);
  });

  test('answers 404 to a cursor that is not a run of the caller', async () => {
    for (const name of ['startingAfter', 'endingBefore']) {
      const ofNobody = await service.get(`/runs?${name}=${UNKNOWN_ID}`);
      expect(ofNobody).toMatchObject({ http: 404, status: 'NOT_FOUND_ERROR', data: null });
      const ofAnother = await service.get(`/runs?${name}=${allRows[0]?.runId}`, { key: otherKey });
      expect(ofAnother.http).toBe(404);
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
    { what: 'is unknown', id: UNKNOWN_ID },
    { what: 'is not a UUID', id: 'x' },
    { what: 'is long', id: 'x'.repeat(2000) },
    { what: 'leads to another path', id: '..%2Fme' },
  ])('answers 404 to an id that $what', async ({ id }) => {
    expect(await service.get(`/runs/${id}`)).toMatchObject({
      http: 404,
      status: 'NOT_FOUND_ERROR',
      data: null,
    });
  });

  test("answers 404 for somebody else's run", async () => {
    expect((await service.get(`/runs/${allRows[0]?.runId}`, { key: otherKey })).http).toBe(404);
  });
});

test('runs created within one millisecond, or while the clock goes back, keep their order', async () => {
  const clock = new HandClock(START);
  const service = await TestService.forTest({ clock });

  const promptVersionId = await service.versionOf('hello');
  const created: string[] = [];
  for (let index = 0; index < 12; index += 1) {
    const { data } = await service.post<{ runId: string }>('/runs', {
      promptVersionId,
      inputs: { textInputs: { name: 'Ann' } },
    });
    created.unshift(data.runId);
    if (index === 6) clock.set(START - 3_600_000);
  }

  const first = await service.data<RunPage>('/runs?limit=5');
  const rest = await service.data<RunPage>(
    `/runs?limit=50&startingAfter=${first.rows.at(-1)?.runId}`,
  );

  expect(listIds([...first.rows, ...rest.rows])).toEqual(created);
});

describe('rows with large outputs in GET /runs', () => {
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
