import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { TestService } from '../support/local-service.ts';

/** The parts of the description that these tests read. */
interface Description {
  readonly openapi: string;
  /** The operations of each path, by their methods. */
  readonly paths: Record<string, Record<string, Operation>>;
}

interface Operation {
  /** The answers by their status. */
  readonly responses: Record<string, { readonly headers?: object }>;
}

/** Headers of HTTP, the connection and the envelope, which need no description. */
const UNDESCRIBED_HEADERS = [
  'content-type',
  'content-length',
  'date',
  'connection',
  'keep-alive',
  'x-content-type-options',
];

let service: TestService;

beforeAll(async () => {
  service = await TestService.start();
});

afterAll(() => service.close());

/** Reads the description without a key. */
async function readDescription(): Promise<Description> {
  const answer = await fetch(new URL('/openapi.json', service.service.url));
  expect(answer.status).toBe(200);
  return (await answer.json()) as Description;
}

/** Lists the headers described for an answer of GET /v1/runs, in small letters. */
function listRunsHeaders(paths: Description['paths'], status: number): string[] {
  const response = paths['/v1/runs']?.['get']?.responses[status];
  if (!response) throw new Error(`GET /v1/runs describes no answer ${status}`);
  return Object.keys(response.headers ?? {}).map(name => name.toLowerCase());
}

describe('GET /openapi.json', () => {
  test('lists the routes of the interface, without a key', async () => {
    const { openapi, paths } = await readDescription();
    const routes = Object.entries(paths).flatMap(([path, operations]) =>
      Object.keys(operations).map(method => `${method} ${path}`),
    );

    expect(openapi).toBe('3.1.0');
    expect(routes.sort()).toEqual([
      'delete /v1/prompts/{promptId}',
      'delete /v1/prompts/{promptId}/labels/{label}',
      'get /healthz',
      'get /media/{file}',
      'get /readyz',
      'get /v1/me',
      'get /v1/me/credits',
      'get /v1/prompt-versions/{promptVersionId}',
      'get /v1/prompts',
      'get /v1/prompts/publish',
      'get /v1/prompts/{promptId}',
      'get /v1/prompts/{promptId}/versions',
      'get /v1/resources',
      'get /v1/runs',
      'get /v1/runs/{runId}',
      'get /v1/runs/{runId}/request',
      'post /v1/runs',
      'post /v1/runs/{runId}/cancel',
      'put /v1/prompts/{promptId}',
      'put /v1/prompts/{promptId}/labels/{label}',
    ]);
  });

  test('describes every header that answers of the interface add to those of HTTP', async () => {
    const { paths } = await readDescription();
    for (const { target, status } of [
      { target: '/runs', status: 200 },
      { target: '/runs?limit=0', status: 422 },
    ]) {
      const { http, headers } = await service.get(target, { headers: { 'cli-agent': 'another' } });
      const addedHeaders = [...headers.keys()].filter(name => !UNDESCRIBED_HEADERS.includes(name));
      expect(http).toBe(status);
      expect(addedHeaders).toContain('idempotency');
      expect(listRunsHeaders(paths, status)).toEqual(expect.arrayContaining(addedHeaders));
    }
  });

  test('describes the wait after 429, and no header of 401', async () => {
    const { paths } = await readDescription();
    expect(listRunsHeaders(paths, 429)).toContain('retry-after');
    expect(listRunsHeaders(paths, 401)).toEqual([]);
  });
});
