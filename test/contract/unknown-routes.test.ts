import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { TestService } from '../support/local-service.ts';

let service: TestService;

beforeAll(async () => {
  service = await TestService.start();
});

afterAll(() => service.close());

describe('an unknown route, or a method that a route does not have,', () => {
  test.each([
    { method: 'GET', target: '/nowhere' },
    { method: 'GET', target: '' },
    { method: 'GET', target: '/runs/x/y' },
    { method: 'GET', target: '/Runs' },
    { method: 'DELETE', target: '/runs/00000000-0000-4000-8000-000000000000' },
    { method: 'PUT', target: '/runs' },
    { method: 'PATCH', target: '/me' },
    { method: 'POST', target: '/resources' },
    { method: 'POST', target: '/prompts/publish?q=a' },
  ])(
    'is 404 with a key and without, whatever its body: $method $target',
    async ({ method, target }) => {
      const notJson = method === 'GET' ? {} : { body: '{' };
      for (const key of [service.key, '']) {
        const answer = await service.call(method, target, { key, ...notJson });
        expect(answer).toMatchObject({ http: 404, status: 'NOT_FOUND_ERROR', data: null });
      }
    },
  );
});
