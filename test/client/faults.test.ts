import { describe, expect, it } from 'vitest';
import {
  NetworkError,
  ProtocolError,
  RateLimitError,
  ServiceError,
} from '../../src/client/errors.ts';
import type { ClientOptions } from '../../src/client/request-options.ts';
import type { Transport, TransportRequest } from '../../src/client/transport.ts';
import { getRejection, startScript, testClient } from '../support/client.ts';
import {
  failure,
  findDeadBaseUrl,
  html,
  type ScriptedAnswer,
  success,
} from '../support/scripted-service.ts';

const POST = { promptVersionId: 'v', inputs: {} };
const run = { runId: 'r', runStatus: 'succeeded', outputs: [], tokens: 1 };
const serverError = failure(500, 'SERVER_ERROR', 'x');
const limited = failure(429, 'TOO_MANY_REQUESTS_ERROR', 'slow down');
const cutAnswer = { ...success(run), cutAfter: 10 };

describe('a GET', () => {
  it.each<[string, ScriptedAnswer]>([
    ['a connection reset before the request was read', 'reset-before-body'],
    ['a connection reset after it', 'reset-after-body'],
    ['a connection closed without an answer', 'close'],
    ['an answer cut short', cutAnswer],
    ['an envelope with 500', serverError],
    ['an error page with 502', html(502)],
    ['an error page with 504', html(504)],
    ['an empty 503', { status: 503 }],
    ['429', limited],
    ['429 without an envelope', html(429)],
  ])('survives %s', async (_, fault) => {
    const { client } = await startScript(
      { answer: fault },
      { answer: fault },
      { answer: fault },
      { answer: success(run) },
    );
    await expect(client.runs.get('r')).resolves.toEqual(run);
    expect(client.slept).toEqual([500, 1000, 2000]);
  });

  it.each<
    [string, ScriptedAnswer, typeof NetworkError | typeof ServiceError | typeof ProtocolError]
  >([
    ['resets', 'reset-after-body', NetworkError],
    ['cut answers', cutAnswer, NetworkError],
    ['500', serverError, ServiceError],
    ['502 pages', html(502), ProtocolError],
    ['429', limited, RateLimitError],
  ])('gives up after four requests that ended in %s', async (_, fault, type) => {
    const { client } = await startScript({ answer: fault, times: 4 });
    await getRejection<Error>(client.runs.get('r'), type);
  });

  it.each<[string, ScriptedAnswer]>([
    ['truncated JSON', { body: '{"status":' }],
    ['a page with 200', html(200)],
    ['404', failure(404, 'NOT_FOUND_ERROR', 'x')],
    ['200 without success', failure(200, 'SERVER_ODD', 'x')],
  ])('is not repeated after %s', async (_, answer) => {
    const { client } = await startScript({ answer });
    await getRejection(client.runs.get('r'), Error);
    expect(client.slept).toEqual([]);
  });

  it('takes an answer that comes drop by drop', async () => {
    const { client } = await startScript({ answer: { ...success(run), dripBytes: 1 } });
    await expect(client.runs.get('r')).resolves.toEqual(run);
  });

  it('is not repeated if retries are off', async () => {
    const { client } = await startScript({ answer: limited });
    await getRejection(client.runs.get('r', { retries: 0 }), RateLimitError);
  });

  it('bounds each try', async () => {
    const { service } = await startScript();
    const transport = new SilentTransport();
    const client = testClient(service.baseUrl, { transport });
    const error = await getRejection(
      client.runs.get('r', { timeoutMs: 1, retries: 1 }),
      NetworkError,
    );
    expect(error.message).toContain('in time');
    expect(error.nothingSent).toBe(false);
    expect(transport.requestCount).toBe(2);
  });
});

describe('a POST', () => {
  it.each<[string, ScriptedAnswer]>([
    ['a reset before the body was read', 'reset-before-body'],
    ['a reset after it', 'reset-after-body'],
    ['a closed connection', 'close'],
    ['an answer cut short', cutAnswer],
  ])('is never sent again after %s, which leaves in doubt what was sent', async (_, fault) => {
    const { client, service } = await startScript({ answer: fault });
    const error = await getRejection(client.runs.create(POST), NetworkError);
    expect(error.nothingSent).toBe(false);
    expect(service.calls).toHaveLength(1);
  });

  it.each<[string, ScriptedAnswer]>([
    ['an envelope with 500', serverError],
    ['an error page with 502', html(502)],
    ['an error page with 504', html(504)],
    ['truncated JSON', { body: '{"status":' }],
  ])('is never sent again after %s', async (_, fault) => {
    const { client, service } = await startScript({ answer: fault });
    await getRejection(client.runs.create(POST), Error);
    expect(service.calls).toHaveLength(1);
  });

  it('is repeated on 429, after the time that the answer names', async () => {
    const answer = { ...limited, headers: { 'retry-after': '7' } };
    const { client } = await startScript(
      { answer, times: 3 },
      { expect: { body: POST }, answer: success(run) },
    );
    await expect(client.runs.create(POST)).resolves.toEqual(run);
    expect(client.slept).toEqual([7000, 7000, 7000]);
  });

  it('sends a streamed body again from its start', async () => {
    const { client } = await startScript(
      { answer: limited },
      { expect: { body: POST }, answer: success(run) },
    );
    const text = JSON.stringify(POST);
    const body = { length: text.length, chunks: () => letters(text) };
    await expect(client.runs.create({ promptVersionId: 'v', body })).resolves.toEqual(run);
  });
});

describe('a port on which nothing listens', () => {
  it.each(['GET', 'POST'])('a %s is tried four times, since nothing was sent', async method => {
    await startScript();
    const client = testClient(await findDeadBaseUrl());
    let sentCount = 0;
    const onSent = (): number => sentCount++;
    const error = await getRejection(client.request(method, '/runs', { onSent }), NetworkError);

    expect(error).toMatchObject({
      nothingSent: true,
      status: 'NETWORK_ERROR',
      httpStatus: undefined,
    });

    expect(error.message).toMatch(
      /can't connect to http:\/\/127\.0\.0\.1:\d+: connection refused \(ECONNREFUSED\)/,
    );
    expect(client.slept).toHaveLength(3);
    expect(sentCount).toBe(0);
  });
});

describe('Retry-After', () => {
  it('may be a date, read by the clock of the service', async () => {
    const headers = {
      date: 'Fri, 02 Jan 2026 03:04:05 GMT',
      'retry-after': 'Fri, 02 Jan 2026 03:04:47 GMT',
    };
    const { client } = await startScript(
      { answer: { ...limited, headers } },
      { answer: success(run) },
    );
    await client.runs.get('r');
    expect(client.slept).toEqual([42_000]);
  });

  it('counts on 503 and without an envelope as well', async () => {
    const headers = { 'retry-after': '9' };
    const { client } = await startScript(
      { answer: { ...html(503), headers } },
      { answer: { ...html(429), headers } },
      { answer: success(run) },
    );

    await client.runs.get('r');
    expect(client.slept).toEqual([9000, 9000]);
  });

  it.each(['GET', 'POST'])('of more than a minute ends a %s at once', async method => {
    const { client } = await startScript({
      answer: { ...limited, headers: { 'retry-after': '61' } },
    });
    const error = await getRejection(client.request(method, '/runs'), RateLimitError);
    expect(error.retryAfterMs).toBe(61_000);
    expect(client.slept).toEqual([]);
  });
});

describe('an aborted signal', () => {
  const reason = new Error('enough');

  it('ends a request before it is sent', async () => {
    const { client } = await startScript();
    await expect(client.runs.get('r', { signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
  });

  it.each<[string, ScriptedAnswer]>([
    ['is not answered', 'silence'],
    ['is half answered', { headers: { 'content-length': '100' }, body: '{', stayOpen: true }],
  ])('ends a request that %s', async (_, answer) => {
    const controller = new AbortController();
    const { client } = await startScript({
      answer: () => {
        setImmediate(() => controller.abort(reason));
        return answer as Exclude<ScriptedAnswer, (...args: never[]) => unknown>;
      },
    });
    await expect(client.runs.get('r', { signal: controller.signal })).rejects.toBe(reason);
  });

  it('is not waited out as a fault would be, whatever its reason', async () => {
    const { client } = await startScript({ answer: 'silence', times: 'any' });
    const controller = new AbortController();
    const fault = new NetworkError('as if', { nothingSent: true });
    const options = { signal: controller.signal, onSent: () => controller.abort(fault) };
    await expect(client.request('GET', '/me', options)).rejects.toBe(fault);
    expect(client.slept).toEqual([]);
  });

  it('ends the wait before the next try', async () => {
    const { service } = await startScript({ answer: serverError });
    const controller = new AbortController();
    const options: Partial<ClientOptions> = {
      onEvent: ({ kind }) => {
        if (kind === 'retry') controller.abort(reason);
      },
    };
    const client = testClient(service.baseUrl, options);

    await expect(client.runs.get('r', { signal: controller.signal })).rejects.toBe(reason);
  });

  it('may be shared by any number of requests', async () => {
    const warnings: Error[] = [];
    const addWarning = (warning: Error): unknown => warnings.push(warning);
    process.on('warning', addWarning);
    const url = '/media/a.png';
    const { client, service } = await startScript({
      expect: { path: url },
      answer: success({}),
      times: 30,
    });
    const { signal } = new AbortController();
    const calls = Array.from({ length: 15 }, () => [
      client.request('GET', url, { signal }),
      client.download(service.baseUrl + url, { signal }),
    ]);
    await Promise.all(calls.flat());
    await new Promise(resolve => setImmediate(resolve));
    process.off('warning', addWarning);

    expect(warnings).toEqual([]);
  });

  it('leaves no listener behind', async () => {
    const { client } = await startScript({ answer: success(run), times: 3 });
    const signal = new CountingSignal();
    for (let i = 0; i < 3; i++) await client.runs.get('r', { signal: signal.signal });
    expect(signal.listenerCount).toBe(0);
  });
});

describe('events', () => {
  it('report each attempt with its duration, and each wait', async () => {
    const { client, service } = await startScript(
      { answer: 'reset-after-body' },
      { answer: serverError },
      { answer: success(run) },
    );

    await client.runs.get('r');
    const url = `${service.baseUrl}/runs/r`;
    const ms = expect.any(Number) as number;

    expect(client.events).toEqual([
      { kind: 'request', method: 'GET', url, attempt: 1 },
      {
        kind: 'failure',
        method: 'GET',
        url,
        attempt: 1,
        ms,
        message: expect.stringContaining('reset') as string,
      },
      { kind: 'retry', method: 'GET', url, attempt: 1, waitMs: 500 },
      { kind: 'request', method: 'GET', url, attempt: 2 },
      { kind: 'answer', method: 'GET', url, attempt: 2, ms, status: 500 },
      { kind: 'retry', method: 'GET', url, attempt: 2, waitMs: 1000 },
      { kind: 'request', method: 'GET', url, attempt: 3 },
      { kind: 'answer', method: 'GET', url, attempt: 3, ms, status: 200 },
    ]);
  });
});

async function* letters(text: string): AsyncGenerator<Uint8Array> {
  for (const letter of text) yield Buffer.from(letter);
}

/** Sends requests that are never answered. */
class SilentTransport implements Transport {
  requestCount = 0;

  request({ signal, onSent }: TransportRequest): Promise<never> {
    this.requestCount++;
    onSent?.();
    return new Promise((_, reject) => {
      signal?.addEventListener('abort', () => reject(signal.reason as Error));
    });
  }

  close(): Promise<void> {
    return Promise.resolve();
  }
}

/** Counts who listens to it. */
class CountingSignal {
  readonly signal = new AbortController().signal;
  listenerCount = 0;

  constructor() {
    const { signal } = this;
    const add = signal.addEventListener.bind(signal);
    const remove = signal.removeEventListener.bind(signal);
    signal.addEventListener = (...args: Parameters<typeof add>) => {
      this.listenerCount++;
      add(...args);
    };
    signal.removeEventListener = (...args: Parameters<typeof remove>) => {
      this.listenerCount--;
      remove(...args);
    };
  }
}
