import { Deadline, sleep as realSleep } from '../../utils/abort-signals.ts';
import {
  ACTION_REQUIRE_HEADER,
  CLI_AGENT_HEADER,
  IDEMPOTENCY_HEADER,
  IDEMPOTENCY_KEY_HEADER,
  IDEMPOTENCY_SUPPORTED,
  RATE_LIMIT_POLICY_HEADER,
} from '../../wire/index.ts';
import {
  InvalidRequestError,
  NetworkError,
  PromptServiceError,
  RateLimitError,
} from '../errors.ts';
import type { ClientOptions, RawAnswer, RequestEvent, RequestOptions } from '../request-options.ts';
import {
  type AnswerHeaders,
  discardBody,
  type RequestBody,
  type Transport,
  type TransportResponse,
} from '../transport.ts';
import { checkBaseUrl } from './base-url.ts';
import { ACCEPTED_ENCODINGS, readAnswerText } from './decode-body.ts';
import {
  type AttemptOutcome,
  findHeader,
  isRedirect,
  loadNumberParser,
  parseResponse,
  type ReceivedResponse,
} from './parse-response.ts';
import { Redaction } from './redaction.ts';
import { buildEventDetails, type EventFacts } from './request-events.ts';
import { computeRetryDelay, createRetryPolicy } from './retry.ts';
import { createTransport } from './undici-transport.ts';

/** Maximum silence before the headers of an answer. A creation may take two minutes to answer. */
const HEADERS_TIMEOUT_MS = { creating: 180_000, reading: 30_000 };

/** Maximum silence within an answer. */
const BODY_TIMEOUT_MS = 30_000;

/** Maximum time for a whole answer, however steadily it trickles in. */
const WHOLE_BODY_TIMEOUT_MS = 300_000;

/** Largest answer, after decompression. */
const MAX_SERVICE_ANSWER_BYTES = 64 * 1024 * 1024;

/** The characters that a key and the hash of resources may have. */
const HEADER_VALUE = /^[\x21-\x7e]+$/;

/** A request, the same at every attempt. */
export interface SessionRequest extends Omit<RequestOptions, 'query'> {
  readonly method: string;
  /** Relative to the base URL, with its query. */
  readonly path: string;
  readonly body: RequestBody | string | undefined;
}

/** The result of an attempt that may be repeated. */
interface RepeatableOutcome extends Pick<AttemptOutcome, 'error' | 'retryAfterMs'> {
  readonly policy?: string | undefined;
}

/** The parts of a request that decide on its retries, and the callback for each. */
interface RepeatableRequest
  extends Pick<RequestOptions, 'signal' | 'unsentSignal' | 'retries' | 'pace'> {
  readonly method: string;
  readonly onRetry?: (attempt: number, waitMs: number) => Promise<void>;
}

/** A step of a request, which an event reports. */
interface RequestStep extends Pick<RequestEvent, 'kind' | 'attempt'> {
  readonly request: SessionRequest;
  readonly body?: RequestBody | string | undefined;
}

/**
 * Sends requests with the caller's key, parses the answers, and remembers what they reveal about
 * the service.
 */
export class HttpSession {
  readonly baseUrl: string;
  readonly userAgent: string;
  readonly now: () => number;
  readonly random: () => number;
  readonly sleep: (ms: number, signal?: AbortSignal) => Promise<void>;
  readonly clock: ServiceClock = new ServiceClock();
  readonly redaction: Redaction;
  readonly #options: ClientOptions;
  readonly #closing = new AbortController();
  #transport: Promise<Transport> | undefined;
  #keepsIdempotencyKeys: boolean | undefined;

  /** @throws {InvalidRequestError} for a base URL or a key that can't be used */
  constructor(options: ClientOptions) {
    this.baseUrl = checkBaseUrl(options);
    this.userAgent = options.userAgent ?? 'promptrun';
    this.now = options.now ?? Date.now;
    this.random = options.random ?? Math.random;
    this.sleep = options.sleep ?? realSleep;
    this.redaction = new Redaction(checkKey(options.apiKey));
    this.#options = options;
  }

  /** See `PromptService.keepsIdempotencyKeys`. */
  get keepsIdempotencyKeys(): boolean | undefined {
    return this.#keepsIdempotencyKeys;
  }

  /**
   * Sends a request and retries if that is safe. Returns faults of the service and the network
   * instead of throwing them.
   *
   * @throws the reason of a signal that aborts it, or a fault of reading the request's own body
   * @throws {NetworkError} if the client is closed while the request waits for a retry
   */
  send(request: SessionRequest): Promise<AttemptOutcome> {
    const onRetry = async (attempt: number, waitMs: number): Promise<void> => {
      await this.#report({ kind: 'retry', request, attempt }, { waitMs });
      request.onRetry?.();
    };
    return this.repeat({ ...request, onRetry }, async attempt => {
      const outcome = await this.#attempt(request, attempt);
      return {
        ...outcome,
        policy: findHeader(outcome.answer?.headers ?? {}, RATE_LIMIT_POLICY_HEADER),
      };
    });
  }

  /** Calls `tryOnce` at the given pace until it succeeds or the retry policy gives up. */
  async repeat<T extends RepeatableOutcome>(
    { method, retries, pace, signal, unsentSignal, onRetry }: RepeatableRequest,
    tryOnce: (attempt: number) => Promise<T>,
  ): Promise<T> {
    const waitSignal =
      signal && unsentSignal ? AbortSignal.any([signal, unsentSignal]) : (unsentSignal ?? signal);
    for (let attempt = 1; ; attempt += 1) {
      await pace?.turn(waitSignal);
      const outcome = await tryOnce(attempt);
      const { error, retryAfterMs, policy } = outcome;
      pace?.answered({ limited: error instanceof RateLimitError, retryAfterMs, policy });
      const failedAttempt = { method, attempt, error, retryAfterMs };
      const waitMs =
        error && computeRetryDelay(failedAttempt, this.random, createRetryPolicy(retries));
      if (waitMs === undefined || this.#closing.signal.aborted) return outcome;

      await onRetry?.(attempt, waitMs);
      await this.#waitForRetry(waitMs, waitSignal);
    }
  }

  /** Opens the transport at the first call. */
  getTransport(): Promise<Transport> {
    this.#transport ??= this.#openTransport();
    return this.#transport;
  }

  /** Closes every connection. */
  async close(): Promise<void> {
    this.#closing.abort();
    const transport = await this.#transport?.catch(() => undefined);
    await transport?.close();
  }

  /** Waits before a retry. @throws {NetworkError} if the client is closed meanwhile */
  async #waitForRetry(ms: number, signal: AbortSignal | undefined): Promise<void> {
    try {
      await this.sleep(ms, AbortSignal.any([this.#closing.signal, ...(signal ? [signal] : [])]));
    } catch (error) {
      if (error !== this.#closing.signal.reason) throw error;
      throw new NetworkError('the client was closed', { nothingSent: false });
    }
  }

  async #openTransport(): Promise<Transport> {
    const { transport } = this.#options;
    return typeof transport === 'function' ? transport() : (transport ?? createTransport());
  }

  async #attempt(request: SessionRequest, attempt: number): Promise<AttemptOutcome> {
    const startedAt = this.now();
    const headers = this.#buildHeaders(request);
    await this.#report({ kind: 'request', request, attempt, body: request.body }, { headers });

    try {
      const response = await this.#receive(request, headers);
      const { httpStatus: status, text } = response;
      const ms = this.now() - startedAt;
      const facts = { ms, status, headers: response.headers };
      await this.#report({ kind: 'answer', request, attempt, body: text }, facts);

      const numberParser = await loadNumberParser(text);
      const outcome = parseResponse(response, this.redaction, numberParser);
      if (outcome.answer) this.#learnFrom(outcome.answer, response.receivedAt);
      return outcome;
    } catch (error) {
      if (request.signal?.aborted) throw request.signal.reason;
      if (!(error instanceof PromptServiceError)) throw error;
      const message = this.redaction.redactText(error.message);
      const facts = { ms: this.now() - startedAt, message };
      await this.#report({ kind: 'failure', request, attempt }, facts);
      return { error };
    }
  }

  /** Sends the request and reads the whole answer within the time limits. */
  async #receive(
    request: SessionRequest,
    headers: Readonly<Record<string, string>>,
  ): Promise<ReceivedResponse> {
    const { method, signal, timeoutMs } = request;
    const url = this.baseUrl + request.path;

    let isSent = false;
    const onSent = (): void => {
      isSent = true;
      request.onSent?.();
    };

    const createTimeoutError = (): NetworkError => {
      const shownUrl = this.redaction.redactText(url);
      const message = `no complete answer to ${method} ${shownUrl} in time`;
      return new NetworkError(message, { nothingSent: !isSent });
    };

    const deadline = new Deadline(signal);
    deadline.addLimit(timeoutMs, createTimeoutError);

    try {
      const transport = await this.getTransport();
      const response = await transport.request({
        ...this.#buildTransportRequest(request),
        url,
        headers,
        signal: deadline.signal,
        onSent,
      });

      deadline.addLimit(WHOLE_BODY_TIMEOUT_MS, createTimeoutError);
      const receivedAt = this.now();
      this.#noteAnnouncements(request, response);
      const safeHeaders = this.redaction.redactValue(response.headers);
      const text = await readUnlessRedirect({ ...response, headers: safeHeaders });

      return { method, url, httpStatus: response.status, headers: safeHeaders, text, receivedAt };
    } finally {
      deadline.end();
    }
  }

  #buildTransportRequest({ method, body, idempotencyKey }: SessionRequest) {
    const isReading = method === 'GET';
    return {
      method,
      body,
      repeatable: isReading || (idempotencyKey !== undefined && !!this.#keepsIdempotencyKeys),
      headersTimeoutMs: isReading ? HEADERS_TIMEOUT_MS.reading : HEADERS_TIMEOUT_MS.creating,
      bodyTimeoutMs: BODY_TIMEOUT_MS,
    };
  }

  #buildHeaders({ body, idempotencyKey }: SessionRequest): Record<string, string> {
    const { apiKey, cliAgent } = this.#options;
    const resourcesHash = cliAgent?.() ?? '';
    return {
      authorization: `Bearer ${apiKey}`,
      accept: 'application/json',
      'accept-encoding': ACCEPTED_ENCODINGS,
      'user-agent': this.userAgent,
      // A hash from a server that can't be a header must not break every later request.
      ...(HEADER_VALUE.test(resourcesHash) && { [CLI_AGENT_HEADER]: resourcesHash }),
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...(idempotencyKey !== undefined && { [IDEMPOTENCY_KEY_HEADER]: idempotencyKey }),
    };
  }

  #noteAnnouncements(request: SessionRequest, { headers }: TransportResponse): void {
    // Before the body is read, because that may fail.
    if (announcesIdempotency(headers)) this.#keepsIdempotencyKeys = true;
    if (request.ignoreActionRequire || headers[ACTION_REQUIRE_HEADER] === undefined) return;
    this.#options.onActionRequire?.();
  }

  // Only from answers of the service itself: an intermediary has its own clock and keeps no keys.
  #learnFrom({ httpStatus, headers, date }: RawAnswer, receivedAt: number): void {
    if (date !== undefined) this.clock.learn(date, receivedAt);
    // Without a valid key or after a 5xx, a missing header proves nothing.
    if (httpStatus !== 401 && httpStatus < 500) {
      this.#keepsIdempotencyKeys = announcesIdempotency(headers);
    }
  }

  async #report({ kind, request, attempt, body }: RequestStep, facts: EventFacts): Promise<void> {
    const { onEvent, eventBodies } = this.#options;
    if (onEvent === undefined) return;
    const url = this.redaction.redactText(this.baseUrl + request.path);
    const details = await buildEventDetails(facts, eventBodies ? body : undefined, this.redaction);
    onEvent({ kind, method: request.method, url, attempt, ...details });
  }
}

// Checked here because undici's own error would repeat the key.
function checkKey(key: unknown): string {
  if (typeof key === 'string' && HEADER_VALUE.test(key)) return key;
  throw new InvalidRequestError(
    'the API key is missing or has characters that no key can have; check for stray spaces',
  );
}

/** Reads the text of an answer; discards that of a redirect. */
async function readUnlessRedirect(response: TransportResponse): Promise<string> {
  if (!isRedirect(response.status)) return await readAnswerText(response, MAX_SERVICE_ANSWER_BYTES);
  await discardBody(response);
  return '';
}

function announcesIdempotency(headers: AnswerHeaders): boolean {
  return findHeader(headers, IDEMPOTENCY_HEADER)?.trim().toLowerCase() === IDEMPOTENCY_SUPPORTED;
}

/** The service's clock, learned from its `Date` headers to the second. */
export class ServiceClock {
  #offsetMs: number | undefined;

  /**
   * Milliseconds by which the service's clock is ahead of the local one; undefined until an answer
   * had a `Date`.
   */
  get offsetMs(): number | undefined {
    return this.#offsetMs;
  }

  /**
   * Returns the service's time at the local time `localMs`; undefined until an answer had a `Date`.
   */
  at(localMs: number): number | undefined {
    return this.#offsetMs === undefined ? undefined : localMs + this.#offsetMs;
  }

  /** Sets the offset from an answer dated `serviceMs` that arrived at the local time `localMs`. */
  learn(serviceMs: number, localMs: number): void {
    this.#offsetMs = serviceMs - localMs;
  }
}
