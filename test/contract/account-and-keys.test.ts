import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import type { Resources } from '../../src/wire/index.ts';
import { HandClock } from '../support/hand-clock.ts';
import {
  createKeyIn,
  createTemporaryDataDir,
  storeForTest,
  TestService,
} from '../support/local-service.ts';

let service: TestService;

beforeAll(async () => {
  service = await TestService.start();
});

afterAll(() => service.close());

const ROUTES: [string, string][] = [
  ['GET', '/runs'],
  ['POST', '/runs'],
  ['GET', '/runs/00000000-0000-4000-8000-000000000000'],
  ['GET', '/prompts/publish?q=hello'],
  ['GET', '/prompts/x'],
  ['GET', '/prompts/x/versions'],
  ['GET', '/prompt-versions/x'],
  ['GET', '/resources'],
  ['GET', '/me'],
  ['GET', '/me/credits'],
];

describe('authentication', () => {
  test.each(ROUTES)(
    '401 for %s %s without a key, before anything else is looked at',
    async (method, target) => {
      const answer = await service.call(method, target, {
        key: '',
        ...(method === 'POST' && { body: '{' }),
      });
      expect(answer).toMatchObject({ http: 401, status: 'UNAUTHORIZED_ERROR', data: null });
    },
  );

  test.each(['nonsense', 'pr_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA'])(
    '401 for an invalid key: %s',
    async key => {
      expect((await service.get('/me', { key })).http).toBe(401);
    },
  );

  test.each(['Basic dXNlcjpwYXNz', 'Bearer', 'Bearer ', 'Bearer a b'])(
    '401 for another Authorization: %s',
    async authorization => {
      expect((await service.get('/me', { key: '', headers: { authorization } })).http).toBe(401);
    },
  );

  test('the scheme is read in any case', async () => {
    expect(
      (await service.get('/me', { key: '', headers: { authorization: `bearer ${service.key}` } }))
        .http,
    ).toBe(200);
  });

  test.each(ROUTES)(
    '402 for %s %s without a paid plan, before anything else is looked at',
    async (method, target) => {
      const key = await lapsedKey;
      const answer = await service.call(method, target, {
        key,
        ...(method === 'POST' && { body: '{' }),
      });
      expect(answer).toMatchObject({ http: 402, status: 'PAYMENT_REQUIRED_ERROR', data: null });
    },
  );

  test('a revoked key is refused', async () => {
    const store = await storeForTest(service.dataDir);
    const { id, key } = await store.createKey({ user: 'leaving' });
    expect((await service.get('/me', { key })).http).toBe(200);
    expect(await store.revokeKey(id)).toBe(true);
    expect(await store.revokeKey(id)).toBe(false);
    expect((await service.get('/me', { key })).http).toBe(401);
  });
});

let lapsedKey: Promise<string>;

beforeAll(() => {
  lapsedKey = createKeyIn(service.dataDir, { user: 'lapsed', plan: 'none' });
});

describe('account', () => {
  test('GET /me says who the key belongs to', async () => {
    const key = await createKeyIn(service.dataDir, { user: 'ann' });
    expect(await service.data('/me', { key })).toEqual({
      username: 'ann',
      displayName: null,
      userFlags: 0,
    });
    expect(await service.data('/me')).toMatchObject({ username: 'local' });
  });

  test('GET /me/credits says what is left', async () => {
    const key = await createKeyIn(service.dataDir, { user: 'bob', credits: 12 });
    expect(await service.data('/me/credits', { key })).toEqual({ credits: 12 });
  });
});

describe('GET /resources', () => {
  test('returns the models and their hash', async () => {
    const { hash, resources } = await service.data<Resources>('/resources');
    expect(hash).toMatch(/^[A-Za-z0-9_-]{43}$/);
    expect(resources.models.map(({ model, modality }) => [model, modality])).toEqual([
      ['echo', 'text'],
      ['card', 'image'],
      ['clip', 'video'],
      ['sandbox', 'text'],
    ]);

    expect(resources.models[0]?.availableRunOptions).toEqual([]);
    expect(resources.models[3]?.availableRunOptions).toContainEqual({
      key: 'delaySeconds',
      options: ['0', '1', '5', '30', '130'],
    });
  });

  const getResourcesWith = (hash: string) => ({ headers: { 'cli-agent': hash } });

  test('action-require is on every authenticated answer to another hash, errors too', async () => {
    for (const [method, target] of [...ROUTES, ['GET', '/nowhere'], ['PUT', '/runs']] as [
      string,
      string,
    ][]) {
      const answer = await service.call(method, target, getResourcesWith('old'));
      expect(answer.headers.get('action-require'), `${method} ${target}`).toBeTruthy();
    }

    const lapsed = await service.get('/me', { ...getResourcesWith('old'), key: await lapsedKey });
    expect(lapsed).toMatchObject({ http: 402 });
    expect(lapsed.headers.get('action-require')).toBeTruthy();
  });

  test('action-require is never there for the current hash, for none, or without a key', async () => {
    const { hash } = await service.data<Resources>('/resources');
    for (const options of [
      getResourcesWith(hash),
      {},
      { ...getResourcesWith('old'), key: '' },
      { ...getResourcesWith('old'), key: 'wrong' },
    ]) {
      for (const [method, target] of [...ROUTES, ['GET', '/nowhere']] as [string, string][]) {
        expect((await service.call(method, target, options)).headers.has('action-require')).toBe(
          false,
        );
      }
    }
  });
});

describe('--rate-limit: 429 TOO_MANY_REQUESTS_ERROR', () => {
  // PostgreSQL counts by its own clock.
  test.skipIf(inject('postgres'))(
    'so many requests a second for each key, then Retry-After',
    async () => {
      const clock = new HandClock();
      const limited = await TestService.forTest({ clock, rateLimit: 3 });
      const other = await createKeyIn(limited.dataDir, { user: 'other' });

      const requestStatuses = async (count: number, key?: string): Promise<number[]> => {
        const all: number[] = [];
        for (let index = 0; index < count; index += 1) {
          all.push((await limited.get('/me', { key })).http);
        }
        return all;
      };

      expect(await requestStatuses(5)).toEqual([200, 200, 200, 429, 429]);
      expect(await requestStatuses(1, other)).toEqual([200]);

      const refused = await limited.get('/nowhere', { headers: { 'cli-agent': 'old' } });
      expect(refused).toMatchObject({ http: 429, status: 'TOO_MANY_REQUESTS_ERROR', data: null });
      expect(refused.headers.get('retry-after')).toBe('1');
      expect(refused.headers.get('action-require')).toBeTruthy();

      clock.advance(1000);
      expect(await requestStatuses(4)).toEqual([200, 200, 200, 429]);

      clock.advance(334);
      expect(await requestStatuses(2)).toEqual([200, 429]);
      expect(await requestStatuses(1, 'wrong')).toEqual([401]);
    },
  );

  test('is left out without the option', async () => {
    const answers = await Promise.all(Array.from({ length: 50 }, () => service.get('/me')));
    expect(answers.every(answer => answer.http === 200)).toBe(true);
  });
});

describe('keys of the local store', () => {
  test.skipIf(inject('postgres'))('are stored as hashes only', async () => {
    const dataDir = createTemporaryDataDir();
    const key = await createKeyIn(dataDir, {
      user: 'secret',
    });

    expect(key).toMatch(/^pr_[A-Za-z0-9_-]{43}$/);

    const files = readdirSync(dataDir).map(name => readFileSync(path.join(dataDir, name)));
    const storedBytes = Buffer.concat(files);

    expect(storedBytes.includes(key)).toBe(false);
    expect(storedBytes.includes(createHash('sha256').update(key).digest('hex'))).toBe(true);
  });

  test('a plan and credits apply to a new user only: an existing user is not changed', async () => {
    const store = await storeForTest(service.dataDir);
    const first = await store.createKey({ user: 'eve', credits: 5 });
    expect(first).toMatchObject({ plan: 'pro', credits: 5, lastUsedAt: null, isNewUser: true });
    const second = await store.createKey({ user: 'eve', plan: 'none', credits: 9 });
    expect(second).toMatchObject({ plan: 'pro', credits: 5, isNewUser: false });
    expect(await store.listUsers('eve')).toEqual([
      { user: 'eve', plan: 'pro', credits: 5, keys: 2 },
    ]);
  });

  test("a user's plan and credits can be changed, never below zero", async () => {
    const store = await storeForTest(service.dataDir);
    const { key } = await store.createKey({ user: 'zoe', credits: 5 });

    expect(await store.changeUser('zoe', { credits: { by: -2 } })).toMatchObject({ credits: 3 });
    await expect(store.changeUser('zoe', { credits: { by: -4 } })).rejects.toThrow('has 3 credits');
    expect(await store.changeUser('zoe', { plan: 'none' })).toMatchObject({
      plan: 'none',
      credits: 3,
    });
    expect((await service.get('/me', { key })).http).toBe(402);
    expect(await store.changeUser('zoe', { plan: 'pro', credits: { to: 0 } })).toMatchObject({
      credits: 0,
    });
    expect(await store.changeUser('nobody', { plan: 'pro' })).toBeUndefined();
  });

  test('the time of the last use is shown', async () => {
    const store = await storeForTest(service.dataDir);
    const { id, key } = await store.createKey({ user: 'used' });
    await service.get('/me', { key });
    const getLastUse = async () => (await store.listKeys()).find(row => row.id === id)?.lastUsedAt;
    await expect.poll(getLastUse).toMatch(/^\d{4}-/);
  });

  test.each([
    ['an empty name', { user: '' }],
    ['a name with a space', { user: 'a b' }],
    ['a name with a control character', { user: 'a\u001b' }],
    ['a long name', { user: 'x'.repeat(65) }],
    ['credits below 0', { credits: -1 }],
    ['credits with decimals', { credits: 1.5 }],
  ])('refused: %s', async (_, options) => {
    const store = await storeForTest(service.dataDir);
    await expect(store.createKey(options)).rejects.toThrow(/name is|credits are/);
  });

  test('a user has at most 10', async () => {
    const store = await storeForTest(service.dataDir);
    for (let number = 1; number <= 10; number += 1) await store.createKey({ user: 'collector' });
    await expect(store.createKey({ user: 'collector' })).rejects.toThrow('has 10 keys already');
  });

  test('the first start makes one, later starts none', async () => {
    const dataDir = createTemporaryDataDir();
    const first = await TestService.forTest({ dataDir });
    await first.close();
    const second = await TestService.forTest({ dataDir });

    expect(first.service.newKey).toMatch(/^pr_/);
    expect(second.service.newKey).toBeUndefined();
    expect((await second.get('/me', { key: first.key })).http).toBe(200);
    expect((await second.get('/me', { key: first.service.sessionKey })).http).toBe(401);
  });
});
