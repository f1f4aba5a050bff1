import {
  ACTION_REQUIRE_HEADER,
  CLI_AGENT_HEADER,
  IDEMPOTENCY_HEADER,
  IDEMPOTENCY_KEY_HEADER,
  IDEMPOTENCY_SUPPORTED,
} from '../wire/index.ts';
import { ACCEPTED_ENCODINGS, textOf } from './decode.ts';
import { NetworkError, PromptServiceError } from './errors.ts';
import { isRedirect, type Outcome, parseResponse, type Received } from './parse-response.ts';
import { Redaction } from './redaction.ts';
import type { RequestEvent } from './request.ts';
import { beginningOf, notable } from './request-events.ts';
import { ServiceClock } from './service-clock.ts';
import { Deadline, eitherOf } from './signals.ts';
import {
  type AnswerHeaders,
  headerOf,
  leave,
  type RequestBody,
  type Transport,
  type TransportResponse,
} from './transport.ts';

/** Longest silence before the headers of an answer. A creation is answered after up to two minutes. */
const HEADERS_TIMEOUT_MS = { creating: 180_000, reading: 30_000 };
/** Longest silence within an answer. */
const BODY_TIMEOUT_MS = 30_000;
/** An answer that still drips after this time is given up. */
const WHOLE_BODY_TIMEOUT_MS = 300_000;
/** Largest answer, after decompression. */
const MAX_ANSWER_BYTES = 64 * 1024 * 1024;

const HEADER_VALUE = /^[\x21-\x7e]+$/;

/** A request, the same at every try. */
export interface SessionRequest {
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

export interface SessionOptions {
  readonly baseUrl: string;
  readonly apiKey: string;
  readonly userAgent: string;
  readonly now: () => number;
  readonly makeTransport: () => Promise<Transport>;
  readonly cliAgent: (() => string | undefined) | undefined;
  readonly onActionRequire: (() => void) | undefined;
  readonly onEvent: ((event: RequestEvent) => void) | undefined;
  readonly eventBodies: boolean;
}

/** Sends requests with the caller's key, reads their answers, and keeps what they show of the service. */
export class HttpSession {
  /** What is known of the service's clock. */
  readonly clock: ServiceClock = new ServiceClock();
  readonly redaction: Redaction;
  readonly #options: SessionOptions;
  readonly #closing = new AbortController();
  #transport: Promise<Transport> | undefined;
  #keepsIdempotencyKeys: boolean | undefined;

  constructor(options: SessionOptions) {
    this.#options = options;
    this.redaction = new Redaction(options.apiKey);
  }

  /** See `PromptService.keepsIdempotencyKeys`. */
  get keepsIdempotencyKeys(): boolean | undefined {
    return this.#keepsIdempotencyKeys;
  }

  /** One try; throws only the signal's reason and faults of the request's own body. */
  async attempt(request: SessionRequest, attempt: number): Promise<Outcome> {
    const { now } = this.#options;
    const startedAt = now();
    const headers = this.#headers(request);
    this.#report('request', request, attempt, {
      ...notable(headers),
      ...(await this.#shownBody(request.body)),
    });
    try {
      const received = await this.#receive(request, headers);
      this.#report('answer', request, attempt, {
        ms: now() - startedAt,
        status: received.httpStatus,
        ...notable(received.headers),
        ...(await this.#shownBody(received.text)),
      });
      const outcome = parseResponse(received, this.redaction);
      this.#noteIdempotency(outcome);
      this.#noteTime(outcome, received.receivedAt);
      return outcome;
    } catch (error) {
      if (request.signal?.aborted) throw request.signal.reason;
      if (!(error instanceof PromptServiceError)) throw error;
      this.#report('failure', request, attempt, {
        ms: now() - startedAt,
        message: this.redaction.text(error.message),
      });
      return { error };
    }
  }

  /** Made when it is first asked for. */
  transport(): Promise<Transport> {
    this.#transport ??= this.#options.makeTransport();
    return this.#transport;
  }

  /** The signal given, which is aborted as well once the session is closed. */
  untilClosed(signal: AbortSignal | undefined): AbortSignal {
    return eitherOf(this.#closing.signal, signal);
  }

  get isClosed(): boolean {
    return this.#closing.signal.aborted;
  }

  /** Drops every connection. */
  async close(): Promise<void> {
    this.#closing.abort(new NetworkError('the client was closed', { nothingSent: false }));
    const transport = await this.#transport?.catch(() => undefined);
    await transport?.close();
  }

  /** Reports that the request is going to be made again. */
  reportRetry(request: SessionRequest, attempt: number, waitMs: number): void {
    this.#report('retry', request, attempt, { waitMs });
  }

  async #receive(request: SessionRequest, headers: Readonly<Record<string, string>>): Promise<Received> {
    const { method } = request;
    const url = this.#options.baseUrl + request.path;
    let sent = false;
    const onSent = (): void => {
      sent = true;
      request.onSent?.();
    };
    const late = (): NetworkError =>
      new NetworkError(`no whole answer to ${method} ${this.redaction.text(url)} in time`, {
        nothingSent: !sent,
      });
    const deadline = new Deadline(request.signal);
    deadline.limit(request.timeoutMs, late);
    try {
      const response = await this.#send(request, { url, headers }, deadline.signal, onSent);
      deadline.limit(WHOLE_BODY_TIMEOUT_MS, late);
      const receivedAt = this.#options.now();
      this.#noteHeaders(request, response);
      const safeHeaders = this.redaction.value(response.headers);
      const text = await bodyText({ ...response, headers: safeHeaders });
      return { method, url, httpStatus: response.status, headers: safeHeaders, text, receivedAt };
    } finally {
      deadline.end();
    }
  }

  async #send(
    request: SessionRequest,
    { url, headers }: { readonly url: string; readonly headers: Readonly<Record<string, string>> },
    signal: AbortSignal,
    onSent: () => void,
  ): Promise<TransportResponse> {
    const { method, body, idempotencyKey } = request;
    const transport = await this.transport();
    return transport.request({
      method,
      url,
      headers,
      ...(body !== undefined && { body }),
      signal,
      onSent,
      repeatable: method === 'GET' || (idempotencyKey !== undefined && this.#keepsIdempotencyKeys === true),
      headersTimeoutMs: method === 'GET' ? HEADERS_TIMEOUT_MS.reading : HEADERS_TIMEOUT_MS.creating,
      bodyTimeoutMs: BODY_TIMEOUT_MS,
    });
  }

  #headers({ body, idempotencyKey }: SessionRequest): Record<string, string> {
    const { apiKey, userAgent, cliAgent } = this.#options;
    const agent = cliAgent?.() ?? '';
    return {
      authorization: `Bearer ${apiKey}`,
      accept: 'application/json',
      'accept-encoding': ACCEPTED_ENCODINGS,
      'user-agent': userAgent,
      // What a server once gave must not make every later request impossible.
      ...(HEADER_VALUE.test(agent) && { [CLI_AGENT_HEADER]: agent }),
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...(idempotencyKey !== undefined && { [IDEMPOTENCY_KEY_HEADER]: idempotencyKey }),
    };
  }

  #noteHeaders(request: SessionRequest, { headers }: TransportResponse): void {
    // Noted before the body is read, which may break off.
    if (saysIdempotency(headers)) this.#keepsIdempotencyKeys = true;
    if (request.ignoreActionRequire || headers[ACTION_REQUIRE_HEADER] === undefined) return;
    this.#options.onActionRequire?.();
  }

  // An intermediary's clock is another one, so the service itself must have answered.
  #noteTime(outcome: Outcome, receivedAt: number): void {
    if ('answer' in outcome && outcome.answer.date !== undefined) {
      this.clock.learn(outcome.answer.date, receivedAt);
    }
  }

  // A missing header says something only where the service itself answered, and knew the key.
  #noteIdempotency(outcome: Outcome): void {
    if ('error' in outcome) return;
    const { httpStatus, headers } = outcome.answer;
    if (httpStatus === 401 || httpStatus >= 500) return;
    this.#keepsIdempotencyKeys = saysIdempotency(headers);
  }

  async #shownBody(body: SessionRequest['body']): Promise<{ body?: string }> {
    if (!this.#options.eventBodies || body === undefined || body === '') return {};
    return { body: this.redaction.text(await beginningOf(body)) };
  }

  #report(
    kind: RequestEvent['kind'],
    { method, path }: SessionRequest,
    attempt: number,
    more: Partial<RequestEvent> = {},
  ): void {
    const url = this.redaction.text(this.#options.baseUrl + path);
    this.#options.onEvent?.({ kind, method, url, attempt, ...more });
  }
}

function saysIdempotency(headers: AnswerHeaders): boolean {
  return headerOf(headers, IDEMPOTENCY_HEADER)?.trim().toLowerCase() === IDEMPOTENCY_SUPPORTED;
}

async function bodyText(response: TransportResponse): Promise<string> {
  if (!isRedirect(response.status)) return textOf(response, MAX_ANSWER_BYTES);
  await leave(response);
  return '';
}
