import {
  ACTION_REQUIRE_HEADER,
  CLI_AGENT_HEADER,
  IDEMPOTENCY_HEADER,
  IDEMPOTENCY_KEY_HEADER,
  IDEMPOTENCY_SUPPORTED,
} from '../wire/index.ts';
import { Deadline } from './deadline.ts';
import { ACCEPTED_ENCODINGS, decoded } from './decode.ts';
import { NetworkError, PromptServiceError, ProtocolError } from './errors.ts';
import { dateOf, isRedirect, judged, type Outcome, type Received } from './judge.ts';
import { Redaction } from './redaction.ts';
import type { RequestEvent } from './request.ts';
import type { ServiceClock } from './service-clock.ts';
import {
  type AnswerHeaders,
  headerOf,
  leave,
  type RequestBody,
  type Transport,
  type TransportResponse,
} from './transport.ts';

/** Longest silence before the headers of an answer. A creation is answered after up to two minutes (interface §4.2). */
const HEADERS_TIMEOUT_MS = { creating: 180_000, reading: 30_000 };
/** Longest silence within an answer. */
const BODY_TIMEOUT_MS = 30_000;
/** An answer that still drips after this time is given up. */
const WHOLE_BODY_TIMEOUT_MS = 300_000;
/** Largest answer, after decompression. */
const MAX_ANSWER_BYTES = 64 * 1024 * 1024;

const HEADER_VALUE = /^[\x21-\x7e]+$/;

/** A request, the same at every try. */
export interface ExchangeRequest {
  readonly method: string;
  /** Below the base URL, with its query. */
  readonly path: string;
  readonly body?: RequestBody | string;
  readonly signal?: AbortSignal;
  readonly timeoutMs?: number;
  readonly idempotencyKey?: string;
  readonly onSent?: () => void;
  readonly ignoreActionRequire?: boolean;
}

export interface ExchangeOptions {
  readonly baseUrl: string;
  readonly apiKey: string;
  readonly userAgent: string;
  readonly now: () => number;
  readonly clock: ServiceClock;
  readonly transport: () => Promise<Transport>;
  readonly agentHash: (() => string | undefined) | undefined;
  readonly onActionRequire: (() => void) | undefined;
  readonly onEvent: ((event: RequestEvent) => void) | undefined;
}

/** Sends requests and reads their answers. */
export class Exchange {
  readonly #options: ExchangeOptions;
  readonly #redaction: Redaction;
  #keepsIdempotencyKeys: boolean | undefined;

  constructor(options: ExchangeOptions) {
    this.#options = options;
    this.#redaction = new Redaction(options.apiKey);
  }

  /** See `PromptService.keepsIdempotencyKeys`. */
  get keepsIdempotencyKeys(): boolean | undefined {
    return this.#keepsIdempotencyKeys;
  }

  /** One try; throws only the signal's reason and faults of the request's own body. */
  async once(request: ExchangeRequest, attempt: number): Promise<Outcome> {
    const { now } = this.#options;
    const startedAt = now();
    this.#report('request', request, attempt);
    try {
      const received = await this.#received(request);
      this.#report('answer', request, attempt, { ms: now() - startedAt, status: received.httpStatus });
      const outcome = judged(received, this.#redaction);
      this.#noteIdempotency(outcome);
      return outcome;
    } catch (error) {
      if (request.signal?.aborted) throw request.signal.reason;
      if (!(error instanceof PromptServiceError)) throw error;
      this.#report('failure', request, attempt, { ms: now() - startedAt, message: error.message });
      return { error };
    }
  }

  /** Tells that the request is going to be made again. */
  retrying(request: ExchangeRequest, attempt: number, waitMs: number): void {
    this.#report('retry', request, attempt, { waitMs });
  }

  async #received(request: ExchangeRequest): Promise<Received> {
    const { method } = request;
    const url = this.#options.baseUrl + request.path;
    let sent = false;
    const onSent = (): void => {
      sent = true;
      request.onSent?.();
    };
    const late = (): NetworkError =>
      new NetworkError(`no whole answer to ${method} ${url} in time`, { nothingSent: !sent });
    const deadline = new Deadline(request.signal);
    deadline.limit(request.timeoutMs, late);
    try {
      const response = await this.#send(request, url, deadline.signal, onSent);
      deadline.limit(WHOLE_BODY_TIMEOUT_MS, late);
      const receivedAt = this.#options.now();
      this.#noteHeaders(request, response, receivedAt);
      const { status: httpStatus, headers } = response;
      return { method, url, httpStatus, headers, text: await textOf(response), receivedAt };
    } finally {
      deadline.end();
    }
  }

  async #send(
    request: ExchangeRequest,
    url: string,
    signal: AbortSignal,
    onSent: () => void,
  ): Promise<TransportResponse> {
    const { method, body } = request;
    const transport = await this.#options.transport();
    return transport.request({
      method,
      url,
      headers: this.#headers(request),
      ...(body !== undefined && { body }),
      signal,
      onSent,
      headersTimeoutMs: method === 'GET' ? HEADERS_TIMEOUT_MS.reading : HEADERS_TIMEOUT_MS.creating,
      bodyTimeoutMs: BODY_TIMEOUT_MS,
    });
  }

  #headers({ body, idempotencyKey }: ExchangeRequest): Record<string, string> {
    const { apiKey, userAgent, agentHash } = this.#options;
    const hash = agentHash?.() ?? '';
    return {
      authorization: `Bearer ${apiKey}`,
      accept: 'application/json',
      'accept-encoding': ACCEPTED_ENCODINGS,
      'user-agent': userAgent,
      // What a server once gave must not make every later request impossible.
      ...(HEADER_VALUE.test(hash) && { [CLI_AGENT_HEADER]: hash }),
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...(idempotencyKey !== undefined && { [IDEMPOTENCY_KEY_HEADER]: idempotencyKey }),
    };
  }

  #noteHeaders(request: ExchangeRequest, { headers }: TransportResponse, receivedAt: number): void {
    const date = dateOf(headers);
    if (date !== undefined) this.#options.clock.learn(date, receivedAt);
    // Noted before the body is read, which may break off.
    if (saysIdempotency(headers)) this.#keepsIdempotencyKeys = true;
    if (request.ignoreActionRequire || headers[ACTION_REQUIRE_HEADER] === undefined) return;
    this.#options.onActionRequire?.();
  }

  // A missing header says something only where the service itself answered, and knew the key.
  #noteIdempotency(outcome: Outcome): void {
    if ('error' in outcome) return;
    const { httpStatus } = outcome.answer;
    if (httpStatus === 401 || httpStatus >= 500) return;
    this.#keepsIdempotencyKeys = saysIdempotency(outcome.answer.headers);
  }

  #report(
    kind: RequestEvent['kind'],
    { method, path }: ExchangeRequest,
    attempt: number,
    more: Partial<RequestEvent> = {},
  ): void {
    this.#options.onEvent?.({ kind, method, url: this.#options.baseUrl + path, attempt, ...more });
  }
}

function saysIdempotency(headers: AnswerHeaders): boolean {
  return headerOf(headers, IDEMPOTENCY_HEADER)?.trim().toLowerCase() === IDEMPOTENCY_SUPPORTED;
}

async function textOf(response: TransportResponse): Promise<string> {
  const { status: httpStatus, headers, body } = response;
  if (isRedirect(httpStatus)) {
    await leave(response);
    return '';
  }
  const pieces: Uint8Array[] = [];
  try {
    for await (const piece of decoded(body, headerOf(headers, 'content-encoding'), MAX_ANSWER_BYTES)) {
      pieces.push(piece);
    }
  } catch (error) {
    if (error instanceof ProtocolError) throw new ProtocolError(error.message, { httpStatus, cause: error });
    throw error;
  }
  return Buffer.concat(pieces).toString('utf8');
}
