import { existsSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { buffer } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { EXIT } from '../../../../src/cli/core/exit-codes.ts';
import { serviceClock } from '../../../../src/service/core/clock.ts';
import type { ServiceOptions } from '../../../../src/service/index.ts';
import { parseMediaUrl } from '../../../../src/service/store/blobs/bucket-location.ts';
import { ObjectStore } from '../../../../src/service/store/blobs/object-store.ts';
import type { Run, RunPage } from '../../../../src/wire/index.ts';
import { runCommand } from '../../../support/command.ts';
import { createTemporaryDirectory } from '../../../support/context.ts';
import { TestObjectStore } from '../../../support/databases/object-store.ts';
import { buildSlowRun } from '../../../support/databases/runs-on-database.ts';
import { HandClock } from '../../../support/hand-clock.ts';
import { createTemporaryDataDir, TestService } from '../../../support/local-service.ts';
import { png } from '../../../support/png.ts';

const MEDIA = 's3://team/pictures';
const HOUR_MS = 60 * 60_000;

/** The bytes of each part of a large object but the last. */
const PART_BYTES = 16 * 1024 * 1024;

describe('media in an object store', () => {
  let objects: TestObjectStore;
  let services: TestService[];
  beforeEach(async () => {
    objects = await TestObjectStore.start();
    services = [];
  });
  afterEach(async () => {
    await Promise.all(services.map(service => service.close()));
    await objects.stop();
  });

  const start = async (options: Partial<ServiceOptions> = {}): Promise<TestService> => {
    const service = await TestService.start({
      mediaBucketUrl: MEDIA,
      env: objects.env,
      ...options,
    });
    services.push(service);
    return service;
  };

  const buildCardCreation = async (service: TestService) => ({
    promptVersionId: await service.versionOf('postcard'),
    inputs: { textInputs: { place: 'Oslo' } },
  });

  const buildImageCreation = async (service: TestService) => ({
    promptVersionId: await service.versionOf('describe'),
    inputs: { imageInputs: [{ type: 'base64', base64: png(3, 2).toString('base64') }] },
  });

  const keysIn = (collection: string): string[] =>
    [...objects.objects.keys()].filter(key => key.split('/')[2] === collection);

  test('are stored under names that cannot be guessed, with type and checksum, and have the same URLs', async () => {
    const service = await start();
    const run = await service.post<Run>('/runs', await buildCardCreation(service));
    const url = run.data.outputs[0]?.data ?? '';

    expect(url).toContain(service.service.url.replace('/v1', '/media/'));

    const [key = ''] = keysIn('media');
    expect(key).toMatch(/^pictures\/[0-9a-f]{32}\/media\/[0-9a-f-]{36}\.png$/);

    const storedObject = objects.objects.get(key);
    expect(storedObject).toMatchObject({
      type: 'image/png',
      checksum: expect.stringMatching(/^[\w+/]{43}=$/) as string,
    });

    const answer = await fetch(url);
    expect(answer.headers.get('content-type')).toBe('image/png');
    expect(storedObject?.bytes.equals(Buffer.from(await answer.arrayBuffer()))).toBe(true);
    expect(existsSync(path.join(service.dataDir, 'media'))).toBe(false);

    const described = await service.post<Run>('/runs', await buildImageCreation(service));
    expect(described.data.outputs[0]?.data).toContain('PNG image, 3 × 2 pixels');
    expect(keysIn('inputs')).toEqual([expect.stringMatching(/\/inputs\/[0-9a-f-]{36}\/0$/)]);

    const requestCount = objects.asked.length;
    await service.post('/runs', buildSlowRun(await service.versionOf('sandbox'), '0'));

    expect(objects.asked).toHaveLength(requestCount);
  });

  test('are found in their former place, and removed once they have expired', async () => {
    const dataDir = createTemporaryDataDir();
    const clock = new HandClock(Date.now());
    const before = await TestService.forTest({ dataDir, env: {} });
    const earlierRun = await before.post<Run>('/runs', await buildCardCreation(before));
    await before.close();
    const service = await start({ dataDir, clock });
    const shown = await service.data<Run>(`/runs/${earlierRun.data.runId}`);

    expect((await fetch(shown.outputs[0]?.data ?? '')).status).toBe(200);

    for (let index = 0; index < 3; index += 1) {
      await service.post('/runs', await buildCardCreation(service));
    }

    await service.post('/runs', await buildImageCreation(service));

    expect([...keysIn('media'), ...keysIn('inputs')]).toHaveLength(4);

    const foreignKey = 'pictures/of-another/media/x.png';
    objects.objects.set(foreignKey, {
      bytes: png(1, 1),
      type: 'image/png',
      checksum: undefined,
      writtenAt: new Date(0),
    });

    clock.advance(25 * HOUR_MS);
    await expect.poll(() => [...objects.objects.keys()]).toEqual([foreignKey]);
    expect(readdirSync(path.join(dataDir, 'media'))).toEqual([]);
  });

  test('lie in one place for all instances', async () => {
    const dataDir = createTemporaryDataDir();
    await (await start({ dataDir })).close();
    services = [];
    const again = (options: Partial<ServiceOptions>) =>
      TestService.start({ dataDir, env: objects.env, ...options });

    await expect(again({})).rejects.toThrow('--media s3://team/pictures');
    await expect(again({ mediaBucketUrl: 's3://team/other' })).rejects.toThrow(
      'is not where the instances',
    );

    const elsewhere = await TestObjectStore.start();
    await expect(again({ mediaBucketUrl: MEDIA, env: elsewhere.env })).rejects.toThrow(
      'AWS_ENDPOINT_URL_S3',
    );

    await elsewhere.stop();
    await start({ dataDir });
  });

  test.each<{ name: string; mediaUrl?: string; env?: Record<string, string>; message: string }>([
    {
      name: 'a missing bucket',
      mediaUrl: 's3://nowhere/x',
      message: 'NoSuchBucket: The specified bucket does not exist',
    },
    {
      name: 'an unknown key',
      env: { AWS_ACCESS_KEY_ID: 'AKIAUNKNOWN' },
      message: 'Id *** does not exist',
    },
    {
      name: 'a wrong secret',
      env: { AWS_SECRET_ACCESS_KEY: 'hush-hush' },
      message: 'SignatureDoesNotMatch',
    },
    { name: 'a wrong region', env: { AWS_REGION: 'us-west-9' }, message: "expecting 'eu-test-1'" },
  ])('do not let a service start with $name', async ({ mediaUrl = MEDIA, env, message }) => {
    const { code, stderr } = await runCommand(['serve', '--port', '0', '--media', mediaUrl], {
      env: { ...objects.env, ...env },
    });
    expect(stderr).toContain(message);
    expect(stderr).not.toMatch(/AKIA|hush|secret\/of/);
    expect(stderr).not.toContain(objects.address);
    expect(code).toBe(EXIT.fault);
  });

  test('exclude a directory for media', async () => {
    const places = ['--media', MEDIA, '--media-dir', createTemporaryDirectory()];
    const database = ['--database', 'postgres://127.0.0.1:1/x'];
    const { code, stderr } = await runCommand(['serve', '--port', '0', ...places, ...database]);
    expect(stderr).toContain("can't be used together");
    expect(code).toBe(EXIT.usage);
  });

  test('may be unavailable at the start: texts run, pictures get 503, and it recovers by itself', async () => {
    await objects.stop();
    const service = await start();

    expect(service.notices.join('\n')).toContain(
      'warning: the object store of media is unavailable: connection refused',
    );

    const text = await service.post<Run>(
      '/runs',
      buildSlowRun(await service.versionOf('sandbox'), '0'),
    );
    expect(text.data.runStatus).toBe('succeeded');

    const refused = await service.post('/runs', await buildImageCreation(service));
    expect(refused).toMatchObject({ http: 503, status: 'SERVICE_UNAVAILABLE_ERROR' });
    expect(`${refused.message} ${service.notices.join(' ')}`).not.toContain(objects.address);
    expect((await service.data<RunPage>('/runs')).rows).toHaveLength(1);

    await objects.start();
    const body = await buildImageCreation(service);

    await expect.poll(async () => (await service.post('/runs', body)).http).toBe(200);
  });

  test('get 503 while the object store is away, and 404 once they are gone', async () => {
    const service = await start();
    const run = await service.post<Run>('/runs', await buildCardCreation(service));
    const url = run.data.outputs[0]?.data ?? '';
    await objects.stop();
    const status = async () => (await fetch(url)).status;

    expect(await status()).toBe(503);

    await objects.start();
    await expect.poll(status).toBe(200);

    objects.objects.clear();
    expect(await status()).toBe(404);
  });

  test('that cannot be stored for a minute fail their run, which may have been paid for', async () => {
    const clock = new HandClock(Date.now());
    const service = await start({ clock, syncWindowMs: HOUR_MS });
    const body = await buildCardCreation(service);
    await objects.stop();
    const creation = service.post<Run>('/runs', body);
    const requestedAt = clock.now();
    let hasEnded = false;
    void creation.finally(() => {
      hasEnded = true;
    });

    await expect
      .poll(
        () => {
          clock.advance(250);
          return hasEnded;
        },
        { interval: 5 },
      )
      .toBe(true);

    expect(clock.now() - requestedAt).toBeGreaterThanOrEqual(60_000);
    expect((await creation).data).toMatchObject({
      runStatus: 'failed',
      outputs: [
        {
          type: 'error',
          data: expect.stringMatching(/object store.*may have been paid for/) as string,
        },
      ],
    });
  });

  test('that wait when the service stops fail their run at the next start, which asks no model again', async () => {
    const service = await start({ syncWindowMs: 0, graceMs: 0 });
    const body = await buildCardCreation(service);
    await objects.stop();
    const { data } = await service.post<{ runId: string }>('/runs', body);

    await expect.poll(() => service.notices.join('\n')).toContain('waits in memory');

    await services.pop()?.close();
    await objects.start();
    const next = await start({ dataDir: service.dataDir });
    const run = () => next.data<Run>(`/runs/${data.runId}`);

    await expect.poll(async () => (await run()).runStatus).toBe('failed');
    expect((await run()).outputs[0]?.data).toMatch(
      /before the service stopped; it may have been paid for/,
    );
    expect(keysIn('media')).toEqual([]);
  });

  test('that a queued run needs are waited for, and keep no text from running', async () => {
    const service = await start({ maxConcurrentRuns: 1, syncWindowMs: 0 });
    const sandbox = await service.versionOf('sandbox');
    const picture = await buildImageCreation(service);
    await service.post('/runs', buildSlowRun(sandbox, '1'));
    const queued = await service.post<{ runId: string }>('/runs', picture);
    await objects.stop();
    const text = await service.post<{ runId: string }>('/runs', buildSlowRun(sandbox, '0'));
    const readStatus = async ({ data }: { data: { runId: string } }) =>
      (await service.data<Run>(`/runs/${data.runId}`)).runStatus;

    await expect.poll(() => readStatus(text)).toBe('succeeded');
    expect(await readStatus(queued)).toMatch(/queued|running/);

    await objects.start();
    await expect.poll(() => readStatus(queued)).toBe('succeeded');
    // Three runs, of one credit each.
    expect(await service.data('/me/credits')).toEqual({ credits: 1_000_000 - 3 });
  });

  test('that are large go in parts, and come back whole or in part', async () => {
    const store = new ObjectStore({
      location: parseMediaUrl(MEDIA, objects.env),
      keyPrefix: 'x',
      clock: serviceClock,
    });
    const blobs = store.createBlobs('media');
    const bytes = Buffer.alloc(40 * 1024 * 1024, 'film');
    await blobs.write('film.mp4', bytes, 'video/mp4');
    const [key = ''] = keysIn('media');

    expect(objects.objects.get(key)).toMatchObject({ type: 'video/mp4', checksum: '3 parts' });

    const whole = await blobs.open('film.mp4');
    expect(whole && (await buffer(whole)).equals(bytes)).toBe(true);

    // The last byte of the first part, which ends with a whole "film", and three of the second.
    const part = await blobs.open('film.mp4', { from: PART_BYTES - 1, to: PART_BYTES + 2 });
    expect(part && (await buffer(part)).toString()).toBe('mfil');

    await blobs.remove('film.mp4');
    expect(await blobs.open('film.mp4')).toBeUndefined();

    store.close();
  });
});
