import { describe, expect, it } from 'vitest';
import {
  GatewayTimeoutError,
  NotFoundError,
  PaymentRequiredError,
  ProtocolError,
  RateLimitError,
  ServiceError,
  UnauthorizedError,
  ValidationError,
} from '../../src/client/errors.ts';
import { getRejection, startScriptedClient, type TestClient } from '../support/client.ts';
import { failure, html, type PlainAnswer, success } from '../support/scripted-service.ts';

/** Starts a service that gives this answer once, and returns a client of it. */
async function startClient(answer: PlainAnswer): Promise<TestClient> {
  return (await startScriptedClient([{ answer }])).client;
}

const nestLists = (levels: number): string => '['.repeat(levels) + ']'.repeat(levels);

const once = { retries: 0 };

describe('a success', () => {
  it('is returned with its envelope, headers and the time of the service', async () => {
    const data = { username: null, later: { added: [1, '2'] } };
    const client = await startClient(
      success(data, { date: 'Fri, 02 Jan 2026 03:04:05 GMT', 'x-more': 'yes' }),
    );
    const answer = await client.request('GET', '/me');
    expect(answer).toMatchObject({ data, httpStatus: 200, envelope: { status: 'SUCCESS', data } });
    expect(answer.headers['x-more']).toBe('yes');
    expect(answer.date).toBe(Date.parse('2026-01-02T03:04:05Z'));
  });

  it('keeps the exact text for `raw`', async () => {
    const text = '{"status":"SUCCESS",  "data":{"n":1.0},"extra":true}\n';
    const client = await startClient({ body: text });
    expect((await client.raw('GET', '/me')).text).toBe(text);
  });

  it('may hold any number of brackets in its texts', async () => {
    const data = { text: '"[{'.repeat(9000), list: Array.from({ length: 9000 }, () => [[]]) };
    const client = await startClient(success(data));
    await expect(client.request('GET', '/me')).resolves.toMatchObject({ data });
  });

  it('may begin with a byte order mark', async () => {
    const client = await startClient({ body: '\uFEFF{"status":"SUCCESS","data":{}}' });
    await expect(client.request('GET', '/me')).resolves.toMatchObject({ data: {} });
  });
});

describe('an error envelope', () => {
  it.each([
    [400, 'BAD_REQUEST_ERROR', ValidationError],
    [401, 'UNAUTHORIZED_ERROR', UnauthorizedError],
    [402, 'PAYMENT_REQUIRED_ERROR', PaymentRequiredError],
    [403, 'FORBIDDEN_ERROR', UnauthorizedError],
    [404, 'NOT_FOUND_ERROR', NotFoundError],
    [410, 'GONE_ERROR', NotFoundError],
    [413, 'PAYLOAD_TOO_LARGE_ERROR', ValidationError],
    [422, 'VALIDATION_ERROR', ValidationError],
    [429, 'TOO_MANY_REQUESTS_ERROR', RateLimitError],
    [500, 'SERVER_ERROR', ServiceError],
    [404, 'SOMETHING_NEW', NotFoundError],
    [402, 'toString', PaymentRequiredError],
    [418, 'TEAPOT', ServiceError],
    [200, 'NOT_FOUND_ERROR', NotFoundError],
    [200, 'SOMETHING_NEW', ServiceError],
  ])('with HTTP %i %s becomes a separate class of error', async (httpStatus, status, type) => {
    const client = await startClient(failure(httpStatus, status, 'what is wrong', { field: 'x' }));
    const error = await getRejection(client.request('GET', '/me', once), type);
    expect(error).toMatchObject({
      status,
      httpStatus,
      message: 'what is wrong',
      data: { field: 'x' },
    });
  });

  it('needs no message and no data', async () => {
    const client = await startClient({ status: 404, body: { status: 'NOT_FOUND_ERROR' } });
    const error = await getRejection(client.request('GET', '/me'), NotFoundError);
    expect(error).toMatchObject({ data: null });
    expect(error.message).toContain('404');
  });

  it('of a creation that takes longer holds the run', async () => {
    const client = await startClient(
      failure(504, 'GATEWAY_TIMEOUT_ERROR', 'still running', { runId: 'r-1' }),
    );
    const creation = client.runs.create({ promptVersionId: 'v', inputs: {} });
    expect(await getRejection(creation, GatewayTimeoutError)).toMatchObject({
      runId: 'r-1',
      httpStatus: 504,
    });
  });

  it.each([null, {}, { runId: '' }, { runId: 7 }, { runId: '../me' }])(
    'of a creation with data %j names no run',
    async data => {
      const client = await startClient(failure(504, 'GATEWAY_TIMEOUT_ERROR', 'x', data));
      const error = await getRejection(
        client.runs.create({ promptVersionId: 'v', inputs: {} }),
        ServiceError,
      );
      expect(error).not.toBeInstanceOf(GatewayTimeoutError);
    },
  );

  it('is returned, not thrown, by `raw`', async () => {
    const client = await startClient(failure(404, 'NOT_FOUND_ERROR', 'no such run'));
    const answer = await client.raw('GET', '/runs/x');
    expect(answer).toMatchObject({
      httpStatus: 404,
      envelope: { status: 'NOT_FOUND_ERROR', data: null },
    });
    expect(answer.error).toBeInstanceOf(NotFoundError);
  });
});

describe('an answer that is not an envelope', () => {
  it.each<[string, PlainAnswer, RegExp]>([
    [
      'an error page',
      html(502, '<html>\n <h1>Bad   Gateway</h1>'),
      /HTTP 502 and text\/html instead of JSON$/,
    ],
    ['a page with 200', html(200), /HTTP 200 and text\/html/],
    ['a page called JSON', { status: 502, body: '<p>' }, /HTTP 502 and something other than JSON$/],
    ['nothing', { status: 200 }, /an empty answer/],
    ['white space', { status: 503, body: ' \n' }, /HTTP 503 and an empty answer/],
    ['truncated JSON', { body: '{"status":"SUCCESS","data":{"run' }, /broken or truncated JSON/],
    [
      'other JSON',
      { status: 404, body: { error: 'missing' } },
      /JSON without an envelope: {"error"/,
    ],
    ['a list', { body: [] }, /JSON without an envelope/],
    ['null', { body: 'null' }, /JSON without an envelope/],
    ['a status that is not text', { body: { status: 200, data: {} } }, /JSON without an envelope/],
    [
      'a message that is not text',
      { status: 400, body: { status: 'X', message: {} } },
      /without an envelope/,
    ],
    ['a success without data', { body: { status: 'SUCCESS' } }, /without an envelope/],
    [
      'endless nesting',
      { body: `{"status":"SUCCESS","data":${nestLists(100_000)}}` },
      /JSON that has more than 500 levels/,
    ],
    [
      'an error of endless nesting',
      { status: 400, body: `{"status":"X","data":${nestLists(9000)}}` },
      /JSON that has more than 500 levels/,
    ],
    [
      'values without end',
      { body: `{"status":"SUCCESS","data":[${'{},'.repeat(1_000_000)}{}]}` },
      /JSON that holds more than 1,000,000 values/,
    ],
    [
      'a success with 404',
      { status: 404, body: { status: 'SUCCESS', data: {} } },
      /HTTP 404 and an envelope that says SUCCESS/,
    ],
  ])('is described as what it is: %s', async (_, answer, message) => {
    const client = await startClient(answer);
    const error = await getRejection(client.request('GET', '/me', once), ProtocolError);
    expect(error.message).toMatch(message);
    expect(error.httpStatus).toBe(answer.status ?? 200);
  });

  it('is quoted briefly in the error', async () => {
    const client = await startClient(html(502, `<html>${'x'.repeat(100_000)}`));
    const error = await getRejection(client.request('GET', '/me', once), ProtocolError);
    expect(error.message.length).toBeLessThan(300);
  });

  it('is still a rate limit if its status is 429', async () => {
    const client = await startClient({
      ...html(429, 'slow down'),
      headers: { 'retry-after': '100' },
    });
    const error = await getRejection(client.request('GET', '/me'), RateLimitError);
    expect(error).toMatchObject({ httpStatus: 429, retryAfterMs: 100_000 });
  });

  it.each([
    ['/elsewhere', /\/elsewhere/],
    ['https://evil.example/v1/me?a=b', /redirected to https:\/\/evil\.example\/v1\/me\?a=b/],
    ['http://[', /redirected to http:\/\/\[/],
  ])(
    'is an error that names the target if it redirects to %s, which is not followed',
    async (location, message) => {
      const client = await startClient({ status: 307, headers: { location }, body: 'moved' });
      const error = await getRejection(
        client.request('POST', '/runs', { body: {} }),
        ProtocolError,
      );
      expect(error.message).toMatch(message);
      expect(error.httpStatus).toBe(307);
    },
  );
});

describe('a payload of another shape than expected', () => {
  const run = { runId: 'r', runStatus: 'succeeded', outputs: [], tokens: 1 };

  it.each<[string, unknown, (client: TestClient) => Promise<unknown>]>([
    ['a run that is null', null, client => client.runs.get('r')],
    ['a run without an id', { ...run, runId: undefined }, client => client.runs.get('r')],
    ['a run without a status', { ...run, runStatus: 7 }, client => client.runs.get('r')],
    ['a run without outputs', { ...run, outputs: {} }, client => client.runs.get('r')],
    [
      'an output without a type',
      { ...run, outputs: [{ data: 'x' }] },
      client => client.runs.get('r'),
    ],
    [
      'an output that is null',
      { ...run, outputs: [null] },
      client => client.runs.create({ promptVersionId: 'v', inputs: {} }),
    ],
    ['a page without rows', { hasMore: false }, client => client.runs.list()],
    ['a row that is a list', { rows: [[]], hasMore: false }, client => client.runs.list()],
    ['a prompt without a version', { promptId: 'p' }, client => client.prompts.get('p')],
    [
      'a search result without a version',
      { rows: [{ promptId: 'p' }] },
      client => client.prompts.search('x'),
    ],
    ['versions that are not a list', { versions: 'none' }, client => client.versions.list('p')],
    ['a version without an id', {}, client => client.versions.get('v')],
    ['resources without a hash', { resources: { models: [] } }, client => client.resources.get()],
    ['resources that are a list', { hash: 'h', resources: [] }, client => client.resources.get()],
    [
      'models that are not a list',
      { hash: 'h', resources: { models: {} } },
      client => client.resources.get(),
    ],
    ['a balance that is a text', { credits: '5' }, client => client.account.credits()],
    ['an account that is a text', 'me', client => client.account.get()],
  ])('%s', async (_, data, call) => {
    const client = await startClient(success(data));
    await getRejection(call(client), ProtocolError);
  });

  it('keeps fields that are not known', async () => {
    const client = await startClient(success({ ...run, later: { added: true } }));
    await expect(client.runs.get('r')).resolves.toEqual({ ...run, later: { added: true } });
  });
});
