import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';
import { findFreePort } from './free-port.ts';

/**
 * Starts a service on a free loopback port that expects these calls, in this order, and answers
 * each as scripted:
 *
 * ```ts
 * const service = await startScriptedService([
 *   { expect: { method: 'POST', path: '/runs' }, answer: failure(504, 'GATEWAY_TIMEOUT_ERROR', '…', { runId }) },
 *   { expect: { path: `/runs/${runId}` }, answer: success({ runId, runStatus: 'succeeded', outputs: [], tokens: 1 }) },
 * ]);
 * …
 * new PromptService({ baseUrl: service.baseUrl, apiKey: 'a-key' })
 * …
 * service.verify(); // throws if a call was not expected, or an exchange was not used
 * await service.close();
 * ```
 *
 * A call that does not match the next exchange is answered with HTTP 599 and reported by `verify`.
 * With `{ isOrdered: false }`, each call takes the first unused exchange that it matches, for
 * callers that send several at once.
 */
export async function startScriptedService(
  script: readonly Exchange[],
  options: { readonly isOrdered?: boolean } = {},
): Promise<ScriptedService> {
  const service = new ScriptedService(script, options);
  await service.listen();
  return service;
}

/** Starts such a service for one test: at its end, the service is verified and closed. */
export async function startScriptedServiceForTest(
  ...script: readonly Exchange[]
): Promise<ScriptedService> {
  const service = await startScriptedService(script);
  onTestFinished(async () => {
    await service.close();
    service.verify();
  });
  return service;
}

/** A call and its answer. */
export interface Exchange {
  readonly expect?: Expectation;
  readonly answer: ScriptedAnswer;
  /** The number of calls that it is for; 1 by default. `any` also fits none at all. */
  readonly times?: number | 'any';
}

/** The properties that a call must have; those left out may have any value. */
export interface Expectation {
  readonly method?: string;
  /** The path without `/v1` and without the query. */
  readonly path?: string | RegExp;
  /** Each named value must be equal; null must be missing. */
  readonly query?: Readonly<Record<string, string | null>>;
  /** Each named value must be equal or match; null must be missing. Names in lower case. */
  readonly headers?: Readonly<Record<string, string | RegExp | null>>;
  /**
   * A predicate over the parsed JSON body, or over the text if it is not JSON; or the value that the
   * body must equal.
   */
  readonly body?: ((body: unknown) => boolean) | object;
}

export type ScriptedAnswer =
  | PlainAnswer
  | Fault
  | ((call: Call) => PlainAnswer | Fault | Promise<PlainAnswer | Fault>);

export interface PlainAnswer {
  /** 200 by default. */
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** A value is sent as JSON, a string or bytes as they are. */
  readonly body?: unknown;
  /**
   * Sends only so many bytes of the body, then breaks the connection; `Content-Length` promises all
   * of it, unless sent in chunks.
   */
  readonly cutAfter?: number;
  /** Sends the body, then nothing, and leaves the connection open. */
  readonly stayOpen?: boolean;
  /** Sends the body in pieces of so many bytes, each once the one before is out. */
  readonly dripBytes?: number;
}

/**
 * `reset-before-body`: the connection is reset once the headers of the request are in;
 * `reset-after-body`: once the whole request is in; `close`: likewise, but closed in order;
 * `silence`: nothing is ever answered.
 */
export type Fault = 'reset-before-body' | 'reset-after-body' | 'close' | 'silence';

/** A call that was made. */
export interface Call {
  readonly method: string;
  /** The path without `/v1` and without the query. */
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  readonly headers: IncomingMessage['headers'];
  /** Parsed JSON, or the text if it is not JSON; undefined without a body. */
  readonly body: unknown;
  readonly bytes: Buffer;
  /** The caller's port, the same for calls over the same connection. */
  readonly port: number;
}

/** Returns a success in the envelope. */
export function success(
  data: unknown,
  headers: Readonly<Record<string, string>> = {},
): PlainAnswer {
  return { status: 200, headers, body: { status: 'SUCCESS', data } };
}

/** Returns the call that reads a prompt version, and its answer: a version without inputs. */
export function versionLookup(promptVersionId: string): Exchange {
  return {
    expect: { method: 'GET', path: `/prompt-versions/${promptVersionId}` },
    answer: success({
      promptVersionId,
      promptId: promptVersionId,
      title: 't',
      publishedAt: '',
      config: {},
    }),
  };
}

/** Returns an error in the envelope. */
export function failure(
  httpStatus: number,
  status: string,
  message: string,
  data: unknown = null,
  headers: Readonly<Record<string, string>> = {},
): PlainAnswer {
  return { status: httpStatus, headers, body: { status, message, data } };
}

/** Returns the same answer of a service that keeps idempotency keys. */
export function keepingKeys(answer: PlainAnswer): PlainAnswer {
  return { ...answer, headers: { ...answer.headers, idempotency: 'supported' } };
}

/** Returns an error page of an intermediary. */
export function html(
  httpStatus: number,
  text = '<html><body>Bad Gateway</body></html>',
): PlainAnswer {
  return { status: httpStatus, headers: { 'content-type': 'text/html' }, body: text };
}

/** Returns the base URL of a port that nobody listens on. */
export async function findDeadBaseUrl(): Promise<string> {
  return `http://127.0.0.1:${await findFreePort()}/v1`;
}

export class ScriptedService {
  /** Every call, in the order in which they came in. */
  readonly calls: Call[] = [];
  readonly #server: Server;
  readonly #uses: { readonly exchange: Exchange; count: number }[];
  readonly #isOrdered: boolean;
  readonly #faults: string[] = [];
  #port = 0;

  constructor(script: readonly Exchange[], { isOrdered = true }: { readonly isOrdered?: boolean }) {
    this.#uses = script.map(exchange => ({ exchange, count: 0 }));
    this.#isOrdered = isOrdered;
    this.#server = createServer((request, response) => {
      this.#serve(request, response).catch((error: unknown) => this.#faults.push(String(error)));
    });
  }

  /** The base URL without `/v1`. */
  get origin(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  get baseUrl(): string {
    return `${this.origin}/v1`;
  }

  async listen(): Promise<void> {
    await new Promise<void>(resolve => this.#server.listen(0, '127.0.0.1', resolve));
    this.#port = (this.#server.address() as AddressInfo).port;
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise(resolve => this.#server.close(resolve));
  }

  /** Connections that are open now. */
  openConnections(): Promise<number> {
    return new Promise((resolve, reject) => {
      this.#server.getConnections((error, count) => (error ? reject(error) : resolve(count)));
    });
  }

  /** Throws, naming every call that was not expected and every exchange that was not used. */
  verify(): void {
    const unused = this.#uses
      .filter(({ exchange, count }) => exchange.times !== 'any' && count < (exchange.times ?? 1))
      .map(
        ({ exchange, count }) =>
          `unused (${count} of ${exchange.times ?? 1}): ${describeExpectation(exchange.expect)}`,
      );
    const faults = [...this.#faults, ...unused];
    if (faults.length > 0) {
      throw new Error(`the script was not followed:\n  ${faults.join('\n  ')}`);
    }
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    response.on('error', () => {});
    const callWithoutBody = toCall(request, Buffer.alloc(0));
    const earlyExchange = this.#findNext(callWithoutBody, 'headers');
    if (earlyExchange?.answer === 'reset-before-body') {
      this.calls.push(callWithoutBody);
      this.#countUse(earlyExchange);
      request.socket.resetAndDestroy();
      return;
    }

    const call = toCall(request, await readBytes(request));
    this.calls.push(call);

    const exchange = this.#findNext(call, 'whole');
    if (exchange === undefined) {
      this.#faults.push(
        `unexpected: ${call.method} ${call.path} ${JSON.stringify(call.query)} ${formatExcerpt(call)}`,
      );
      await respond(response, { status: 599, body: 'not in the script' });
      return;
    }

    this.#countUse(exchange);
    const { answer } = exchange;
    await respond(response, typeof answer === 'function' ? await answer(call) : answer);
  }

  #findNext(call: Call, received: 'headers' | 'whole'): Exchange | undefined {
    const remaining = this.#uses
      .filter(({ exchange, count }) => count < readMaxCalls(exchange))
      .map(({ exchange }) => exchange);
    if (!this.#isOrdered) {
      return remaining.find(exchange => isExpected(exchange.expect, call, received));
    }

    for (const exchange of remaining) {
      if (isExpected(exchange.expect, call, received)) return exchange;

      // An exchange for any number of calls may be passed over.
      if (exchange.times !== 'any') return undefined;
    }

    return undefined;
  }

  #countUse(exchange: Exchange): void {
    const use = this.#uses.find(candidate => candidate.exchange === exchange);
    if (use) use.count++;
  }
}

function readMaxCalls({ times = 1 }: Exchange): number {
  return times === 'any' ? Number.POSITIVE_INFINITY : times;
}

function isExpected(expect: Expectation = {}, call: Call, received: 'headers' | 'whole'): boolean {
  const { method, path, query = {}, headers = {}, body } = expect;
  if (method !== undefined && method !== call.method) return false;
  if (path !== undefined && !isMatch(path, call.path)) return false;

  if (!Object.entries(query).every(([name, value]) => (call.query[name] ?? null) === value)) {
    return false;
  }

  if (
    !Object.entries(headers).every(([name, value]) => isHeaderExpected(value, call.headers[name]))
  ) {
    return false;
  }

  return received === 'headers' || body === undefined || isBodyExpected(body, call.body);
}

function isMatch(expected: string | RegExp, value: string): boolean {
  return typeof expected === 'string' ? expected === value : expected.test(value);
}

function isHeaderExpected(
  expected: string | RegExp | null,
  value: string | string[] | undefined,
): boolean {
  if (expected === null || value === undefined) return expected === null && value === undefined;
  return isMatch(expected, String(value));
}

function isBodyExpected(expected: NonNullable<Expectation['body']>, body: unknown): boolean {
  if (typeof expected === 'function') return (expected as (body: unknown) => boolean)(body);
  return JSON.stringify(expected) === JSON.stringify(body);
}

async function readBytes(request: IncomingMessage): Promise<Buffer> {
  const pieces: Buffer[] = [];
  for await (const piece of request) pieces.push(piece as Buffer);
  return Buffer.concat(pieces);
}

function toCall(request: IncomingMessage, bytes: Buffer): Call {
  const url = new URL(request.url ?? '/', 'http://loopback');
  const text = bytes.toString('utf8');
  return {
    method: request.method ?? '',
    path: url.pathname.replace(/^\/v1(?=\/|$)/, ''),
    query: Object.fromEntries(url.searchParams),
    headers: request.headers,
    body: text === '' ? undefined : parseJsonOrText(text),
    bytes,
    port: request.socket.remotePort ?? 0,
  };
}

function parseJsonOrText(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}

async function respond(response: ServerResponse, answer: PlainAnswer | Fault): Promise<void> {
  if (answer === 'silence') return;
  if (answer === 'close') {
    response.socket?.end();
  } else if (typeof answer === 'string') {
    response.socket?.resetAndDestroy();
  } else {
    await send(response, answer);
  }
}

async function send(response: ServerResponse, answer: PlainAnswer): Promise<void> {
  const { status = 200, headers = {}, body = '', cutAfter, dripBytes, stayOpen } = answer;
  const isPlain = typeof body === 'string' || body instanceof Uint8Array;
  const bytes = Buffer.from(isPlain ? body : JSON.stringify(body));
  response.writeHead(status, {
    ...(!isPlain && { 'content-type': 'application/json' }),
    ...(cutAfter !== undefined &&
      !('transfer-encoding' in headers) && { 'content-length': String(bytes.byteLength) }),
    ...headers,
  });

  const sentBytes = cutAfter === undefined ? bytes : bytes.subarray(0, cutAfter);
  const size = dripBytes ?? Math.max(1, sentBytes.byteLength);
  response.flushHeaders();

  for (let start = 0; start < sentBytes.byteLength; start += size) {
    await new Promise<void>(resolve =>
      response.write(sentBytes.subarray(start, start + size), () => resolve()),
    );
  }

  if (stayOpen) return;

  if (cutAfter === undefined) {
    response.end();
  } else {
    response.socket?.destroy();
  }
}

function describeExpectation(expect: Expectation = {}): string {
  return `${expect.method ?? 'any method'} ${String(expect.path ?? 'any path')} ${JSON.stringify(expect.query ?? {})}`;
}

function formatExcerpt({ bytes }: Call): string {
  return bytes.toString('utf8').slice(0, 200);
}
