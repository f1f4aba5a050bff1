import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Resources } from '../../src/wire/index.ts';
import { createKeyIn, TestService } from '../support/local-service.ts';

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
  { method: 'GET', target: '/nowhere' },
];

let service: TestService;

beforeAll(async () => {
  service = await TestService.start();
});

afterAll(() => service.close());

/** The options of a call by a client whose resources have this hash. */
const withResourceHash = (hash: string) => ({ headers: { 'cli-agent': hash } });

describe('GET /resources', () => {
  test('returns the models with their run options, and a hash', async () => {
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

  test('is named by action-require in every authenticated answer to another hash, errors too', async () => {
    for (const { method, target } of [...ROUTES, { method: 'PUT', target: '/runs' }]) {
      const answer = await service.call(method, target, withResourceHash('old'));
      expect(answer.headers.get('action-require'), `${method} ${target}`).toBe('update-resources');
    }

    const lapsedKey = await createKeyIn(service.dataDir, { user: 'lapsed', plan: 'none' });
    const lapsed = await service.get('/me', { ...withResourceHash('old'), key: lapsedKey });
    expect(lapsed).toMatchObject({ http: 402 });
    expect(lapsed.headers.get('action-require')).toBe('update-resources');
  });

  test('is not named by action-require in answers to the current hash, to none, or without a valid key', async () => {
    const { hash } = await service.data<Resources>('/resources');
    for (const options of [
      withResourceHash(hash),
      {},
      { ...withResourceHash('old'), key: '' },
      { ...withResourceHash('old'), key: 'wrong' },
    ]) {
      for (const { method, target } of ROUTES) {
        const { headers } = await service.call(method, target, options);
        expect(headers.has('action-require'), `${method} ${target}`).toBe(false);
      }
    }
  });
});
