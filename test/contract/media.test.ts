import { readdirSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import type { Run, RunPage } from '../../src/wire/index.ts';
import { HandClock } from '../support/hand-clock.ts';
import { createTemporaryDataDir, TestService } from '../support/local-service.ts';

const DAY = 24 * 60 * 60 * 1000;
const HOUR = 60 * 60 * 1000;
const dataDir = createTemporaryDataDir();
const clock = new HandClock();

let service: TestService;
let run: Run;
let url: string;

beforeAll(async () => {
  service = await TestService.start({ dataDir, clock });
  const promptVersionId = await service.versionOf('postcard');
  const { data } = await service.post<Run>('/runs', {
    promptVersionId,
    inputs: { textInputs: { place: 'Oslo' } },
  });
  run = data;
  url = run.outputs[0]?.data ?? '';
});

afterAll(() => service.close());

async function getRefusal(of: string): Promise<{ http: number; status: string; data: unknown }> {
  const answer = await fetch(of);
  expect(answer.headers.get('content-type')).toBe('application/json; charset=utf-8');
  return { http: answer.status, ...((await answer.json()) as { status: string; data: unknown }) };
}

describe('the URL of an image output, which is public and expires after 24 hours,', () => {
  test('leads to the picture, exactly, without a key', async () => {
    expect(run.outputs).toEqual([{ type: 'image', data: url }]);
    const answer = await fetch(url);
    const bytes = Buffer.from(await answer.arrayBuffer());
    expect(answer.status).toBe(200);
    expect(answer.headers.get('content-type')).toBe('image/png');
    expect(answer.headers.get('content-length')).toBe(String(bytes.length));
    expect(bytes.subarray(1, 4).toString()).toBe('PNG');
  });

  test('HEAD returns type and length', async () => {
    const answer = await fetch(url, { method: 'HEAD' });
    expect(answer.status).toBe(200);
    expect(answer.headers.get('content-type')).toBe('image/png');
    expect(Number(answer.headers.get('content-length'))).toBeGreaterThan(1000);
  });

  test.each([
    ['bytes=0-7', 0, 8],
    ['bytes=100-', 100, undefined],
    ['bytes=-16', -16, undefined],
    ['bytes=1000-99999999', 1000, undefined],
  ])('%s returns that part', async (range, from, to) => {
    const whole = Buffer.from(await (await fetch(url)).arrayBuffer());
    const expectedPart = whole.subarray(from, to);
    const answer = await fetch(url, { headers: { range } });

    expect(answer.status).toBe(206);

    const first = whole.length - whole.subarray(from).length;
    expect(answer.headers.get('content-range')).toBe(
      `bytes ${first}-${first + expectedPart.length - 1}/${whole.length}`,
    );
    expect(Buffer.from(await answer.arrayBuffer()).equals(expectedPart)).toBe(true);
  });

  test.each([
    { range: 'bytes=5-1' },
    { range: 'bytes=0-1,4-5' },
    { range: 'lines=1-2' },
    { range: 'bytes=0-1', 'if-range': '"x"' },
  ])('%j returns the whole', async headers => {
    const answer = await fetch(url, { headers: headers as Record<string, string> });
    expect(answer.status).toBe(200);
    expect((await answer.arrayBuffer()).byteLength).toBeGreaterThan(1000);
  });

  test.each(['bytes=99999999-', 'bytes=-0'])('%s is refused with the length', async range => {
    const answer = await fetch(url, { headers: { range } });
    expect(answer.status).toBe(416);
    expect(answer.headers.get('content-range')).toMatch(/^bytes \*\/\d+$/);
    expect(await answer.json()).toMatchObject({
      status: 'RANGE_NOT_SATISFIABLE_ERROR',
      data: null,
    });
  });

  test('is the same wherever the run is read', async () => {
    expect((await service.data<Run>(`/runs/${run.runId}`)).outputs).toEqual(run.outputs);
    expect((await service.data<RunPage>('/runs?limit=1')).rows[0]?.outputs).toEqual(run.outputs);
  });

  test.each([
    ['the file', (whole: string) => whole.replace(/[0-9a-f]{8}-/, '00000000-')],
    ['the extension', (whole: string) => whole.replace('.png', '.jpg')],
    [
      'the time',
      (whole: string) => whole.replace(/expires=(\d+)/, (_, time) => `expires=${Number(time) + 1}`),
    ],
    ['the signature', (whole: string) => `${whole}x`],
    ['no signature', (whole: string) => whole.replace(/&signature=.*/, '')],
    ['no query', (whole: string) => whole.replace(/\?.*/, '')],
    [
      'a path that climbs',
      (whole: string) => whole.replace(/media\/[^?]+/, 'media/..%2Fpromptrun.db'),
    ],
  ])('404 if it was altered: %s', async (_, alter) => {
    expect(await getRefusal(alter(url))).toMatchObject({
      http: 404,
      status: 'NOT_FOUND_ERROR',
      data: null,
    });
  });

  test('is right after a restart on another port, and expires a day after the picture was made', async () => {
    await service.close();
    clock.advance(DAY - 1000);
    service = await TestService.start({ dataDir, clock });
    const { rows } = await service.data<RunPage>('/runs?limit=1', {
      key: service.service.sessionKey,
    });
    const now = rows[0]?.outputs[0]?.data ?? '';

    expect(new URL(now).origin).toBe(new URL(service.service.url).origin);
    expect((await fetch(now)).status).toBe(200);

    clock.advance(1000);
    expect(await getRefusal(now)).toMatchObject({ http: 410, status: 'GONE_ERROR', data: null });
  });

  test.skipIf(inject('postgres'))('what has expired is deleted within the hour', async () => {
    const listFiles = () => readdirSync(path.join(dataDir, 'media'));
    expect(listFiles()).toHaveLength(1);
    await clock.waitForSleep(HOUR);
    clock.advance(HOUR);
    await expect.poll(listFiles).toEqual([]);
  });
});
