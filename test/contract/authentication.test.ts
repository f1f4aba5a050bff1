import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createKeyIn, storeForTest, TestService } from '../support/local-service.ts';

const ROUTES = [
  { method: 'GET', target: '/runs' },
  { method: 'POST', target: '/runs' },
  { method: 'GET', target: '/runs/00000000-0000-4000-8000-000000000000' },
  { method: 'GET', target: '/prompts/publish?q=hello' },
  { method: 'GET', target: '/prompts/x' },
  { method: 'GET', target: '/prompts/x/versions' },
  { method: 'GET', target: '/prompt-versions/x' },
  { method: 'GET', target: '/resources' },
  { method: 'GET', target: '/me' },
  { method: 'GET', target: '/me/credits' },
];

let service: TestService;

/** The key of a user whose plan has ended. */
let lapsedKey: string;

beforeAll(async () => {
  service = await TestService.start();
  lapsedKey = await createKeyIn(service.dataDir, { user: 'lapsed', plan: 'none' });
});

afterAll(() => service.close());

describe('authentication', () => {
  test.each(ROUTES)(
    'answers 401 without a key, before it reads the request: $method $target',
    async ({ method, target }) => {
      const answer = await service.call(method, target, {
        key: '',
        ...(method === 'POST' && { body: '{' }),
      });
      expect(answer).toMatchObject({ http: 401, status: 'UNAUTHORIZED_ERROR', data: null });
    },
  );

  test.each(['nonsense', 'pr_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA'])(
    'answers 401 to an unknown key: %s',
    async key => {
      expect((await service.get('/me', { key })).http).toBe(401);
    },
  );

  test.each(['Basic dXNlcjpwYXNz', 'Bearer', 'Bearer ', 'Bearer a b'])(
    'answers 401 to an Authorization that is not one bearer key: %j',
    async authorization => {
      expect((await service.get('/me', { key: '', headers: { authorization } })).http).toBe(401);
    },
  );

  test('accepts the scheme in small letters', async () => {
    const headers = { authorization: `bearer ${service.key}` };
    expect((await service.get('/me', { key: '', headers })).http).toBe(200);
  });

  test.each(ROUTES)(
    'answers 402 without a paid plan, before it reads the request: $method $target',
    async ({ method, target }) => {
      const answer = await service.call(method, target, {
        key: lapsedKey,
        ...(method === 'POST' && { body: '{' }),
      });
      expect(answer).toMatchObject({ http: 402, status: 'PAYMENT_REQUIRED_ERROR', data: null });
    },
  );

  test('refuses a key once it was revoked', async () => {
    const store = await storeForTest(service.dataDir);
    const { id, key } = await store.createKey({ user: 'leaving' });
    expect((await service.get('/me', { key })).http).toBe(200);
    expect(await store.revokeKey(id)).toBe(true);
    expect(await store.revokeKey(id)).toBe(false);
    expect((await service.get('/me', { key })).http).toBe(401);
  });
});

describe('the account of a key', () => {
  test('is named by GET /me', async () => {
    const key = await createKeyIn(service.dataDir, { user: 'ann' });
    expect(await service.data('/me', { key })).toEqual({
      username: 'ann',
      displayName: null,
      userFlags: 0,
    });
    expect(await service.data('/me')).toMatchObject({ username: 'local' });
  });

  test('has its credits left in GET /me/credits', async () => {
    const key = await createKeyIn(service.dataDir, { user: 'bob', credits: 12 });
    expect(await service.data('/me/credits', { key })).toEqual({ credits: 12 });
  });
});
