import { readdirSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import type { Run, RunPage } from '../../src/wire/index.ts';
import { HandClock } from '../support/hand-clock.ts';
import { createTemporaryDataDir, TestService } from '../support/local-service.ts';

const HOUR_MS = 60 * 60 * 1000;
const DAY_MS = 24 * HOUR_MS;

/** Fewer bytes than any picture of the service has. */
const MIN_PICTURE_BYTES = 1000;

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

async function getRefusal(
  mediaUrl: string,
): Promise<{ http: number; status: string; data: unknown }> {
  const answer = await fetch(mediaUrl);
  expect(answer.headers.get('content-type')).toBe('application/json; charset=utf-8');
  return { http: answer.status, ...((await answer.json()) as { status: string; data: unknown }) };
}

describe('the URL of an image output', () => {
  test('leads to the picture, without a key', async () => {
    expect(run.outputs).toEqual([{ type: 'image', data: url }]);
    const answer = await fetch(url);
    const bytes = Buffer.from(await answer.arrayBuffer());
    expect(answer.status).toBe(200);
    expect(answer.headers.get('content-type')).toBe('image/png');
    expect(answer.headers.get('content-length')).toBe(String(bytes.length));
    expect(bytes.subarray(1, 4).toString()).toBe('PNG');
  });

  test('is answered to HEAD with the type and length of the picture', async () => {
    const answer = await fetch(url, { method: 'HEAD' });
    expect(answer.status).toBe(200);
    expect(answer.headers.get('content-type')).toBe('image/png');
    expect(Number(answer.headers.get('content-length'))).toBeGreaterThan(MIN_PICTURE_BYTES);
  });

  test.each([
    { range: 'bytes=0-7', start: 0, end: 8 },
    { range: 'bytes=100-', start: 100, end: undefined },
    { range: 'bytes=-16', start: -16, end: undefined },
    { range: 'bytes=1000-99999999', start: 1000, end: undefined },
  ])('is answered 206 with a part of the picture for $range', async ({ range, start, end }) => {
    const whole = Buffer.from(await (await fetch(url)).arrayBuffer());
    const expectedPart = whole.subarray(start, end);
    const answer = await fetch(url, { headers: { range } });

    expect(answer.status).toBe(206);

    const firstByte = whole.length - whole.subarray(start).length;
    expect(answer.headers.get('content-range')).toBe(
      `bytes ${firstByte}-${firstByte + expectedPart.length - 1}/${whole.length}`,
    );
    expect(Buffer.from(await answer.arrayBuffer()).equals(expectedPart)).toBe(true);
  });

  test.each([
    { range: 'bytes=5-1' },
    { range: 'bytes=0-1,4-5' },
    { range: 'lines=1-2' },
    { range: 'bytes=0-1', 'if-range': '"x"' },
  ])('is answered with the whole picture for %j', async headers => {
    const answer = await fetch(url, { headers: headers as Record<string, string> });
    expect(answer.status).toBe(200);
    expect((await answer.arrayBuffer()).byteLength).toBeGreaterThan(MIN_PICTURE_BYTES);
  });

  test.each(['bytes=99999999-', 'bytes=-0'])(
    'is answered 416 with the length of the picture for %s',
    async range => {
      const answer = await fetch(url, { headers: { range } });
      expect(answer.status).toBe(416);
      expect(answer.headers.get('content-range')).toMatch(/^bytes \*\/\d+$/);
      expect(await answer.json()).toMatchObject({
        status: 'RANGE_NOT_SATISFIABLE_ERROR',
        data: null,
      });
    },
  );

  test('is the same wherever the run is read', async () => {
    expect((await service.data<Run>(`/runs/${run.runId}`)).outputs).toEqual(run.outputs);
    expect((await service.data<RunPage>('/runs?limit=1')).rows[0]?.outputs).toEqual(run.outputs);
  });

  test.each([
    ['another file', (original: string) => original.replace(/[0-9a-f]{8}-/, '00000000-')],
    ['another extension', (original: string) => original.replace('.png', '.jpg')],
    [
      'a later time',
      (original: string) =>
        original.replace(/expires=(\d+)/, (_, time) => `expires=${Number(time) + 1}`),
    ],
    ['another signature', (original: string) => `${original}x`],
    ['no signature', (original: string) => original.replace(/&signature=.*/, '')],
    ['no query', (original: string) => original.replace(/\?.*/, '')],
    [
      'a path that climbs',
      (original: string) => original.replace(/media\/[^?]+/, 'media/..%2Fpromptrun.db'),
    ],
  ])('is answered 404 if it was altered: %s', async (_, alter) => {
    expect(await getRefusal(alter(url))).toMatchObject({
      http: 404,
      status: 'NOT_FOUND_ERROR',
      data: null,
    });
  });

  test('leads to a restarted service, and is answered 410 a day after the picture was made', async () => {
    await service.close();
    clock.advance(DAY_MS - 1000);
    service = await TestService.start({ dataDir, clock });
    const { rows } = await service.data<RunPage>('/runs?limit=1', {
      key: service.service.sessionKey,
    });
    const urlAfterRestart = rows[0]?.outputs[0]?.data ?? '';

    expect(new URL(urlAfterRestart).origin).toBe(new URL(service.service.url).origin);
    expect((await fetch(urlAfterRestart)).status).toBe(200);

    clock.advance(1000);
    expect(await getRefusal(urlAfterRestart)).toMatchObject({
      http: 410,
      status: 'GONE_ERROR',
      data: null,
    });
  });

  test.skipIf(inject('postgres'))(
    'leads to a file that is deleted within an hour after it expired',
    async () => {
      const listFiles = () => readdirSync(path.join(dataDir, 'media'));
      expect(listFiles()).toHaveLength(1);
      await clock.waitForSleep(HOUR_MS);
      clock.advance(HOUR_MS);
      await expect.poll(listFiles).toEqual([]);
    },
  );
});
