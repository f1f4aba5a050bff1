import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
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

describe('the keys of the local store', () => {
  test.skipIf(inject('postgres'))('are stored as hashes only', async () => {
    const dataDir = createTemporaryDataDir();
    const key = await createKeyIn(dataDir, { user: 'secret' });

    expect(key).toMatch(/^pr_[A-Za-z0-9_-]{43}$/);

    const files = readdirSync(dataDir).map(name => readFileSync(path.join(dataDir, name)));
    const storedBytes = Buffer.concat(files);

    expect(storedBytes.includes(key)).toBe(false);
    expect(storedBytes.includes(createHash('sha256').update(key).digest('hex'))).toBe(true);
  });

  test('bring a plan and credits to a new user, and do not change an existing one', async () => {
    const store = await storeForTest(service.dataDir);
    const first = await store.createKey({ user: 'eve', credits: 5 });
    expect(first).toMatchObject({ plan: 'pro', credits: 5, lastUsedAt: null, isNewUser: true });
    const second = await store.createKey({ user: 'eve', plan: 'none', credits: 9 });
    expect(second).toMatchObject({ plan: 'pro', credits: 5, isNewUser: false });
    expect(await store.listUsers('eve')).toEqual([
      { user: 'eve', plan: 'pro', credits: 5, keys: 2 },
    ]);
  });

  test('follow the plan and credits of their user, which never go below zero', async () => {
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

  test('show when each was last used', async () => {
    const store = await storeForTest(service.dataDir);
    const { id, key } = await store.createKey({ user: 'used' });
    await service.get('/me', { key });
    const getLastUse = async () => (await store.listKeys()).find(row => row.id === id)?.lastUsedAt;
    await expect.poll(getLastUse).toMatch(/^\d{4}-/);
  });

  test.each([
    { what: 'an empty name', user: { user: '' }, message: 'name is' },
    { what: 'a name with a space', user: { user: 'a b' }, message: 'name is' },
    { what: 'a name with a control character', user: { user: 'a\u001b' }, message: 'name is' },
    { what: 'a long name', user: { user: 'x'.repeat(65) }, message: 'name is' },
    { what: 'credits below 0', user: { credits: -1 }, message: 'credits are' },
    { what: 'credits with decimals', user: { credits: 1.5 }, message: 'credits are' },
  ])('are not created for a user with $what', async ({ user, message }) => {
    const store = await storeForTest(service.dataDir);
    await expect(store.createKey(user)).rejects.toThrow(message);
  });

  test('are at most 10 for each user', async () => {
    const store = await storeForTest(service.dataDir);
    for (let number = 1; number <= 10; number += 1) await store.createKey({ user: 'collector' });
    await expect(store.createKey({ user: 'collector' })).rejects.toThrow('has 10 keys already');
  });

  test('are begun with one that the first start of a service creates, and no later one', async () => {
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
