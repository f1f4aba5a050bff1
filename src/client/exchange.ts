import { ACTION_REQUIRE_HEADER, CLI_AGENT_HEADER, type Envelope } from '../wire/index.ts';
import { Deadline } from './deadline.ts';
import { ACCEPTED_ENCODINGS, decoded } from './decode.ts';
import { envelopeOf, isSuccess } from './envelope.ts';
import { NetworkError, PromptServiceError, ProtocolError, RateLimitError } from './errors.ts';
import { Redaction } from './redaction.ts';
import type { RawAnswer, RequestEvent } from './request.ts';
import { retryAfter } from './retry.ts';
import type { ServiceClock } from './service-clock.ts';
import { serviceError } from './service-error.ts';
import { headerOf, type RequestBody, type Transport, type TransportResponse } from './transport.ts';

/** Longest silence before the headers of an answer. A creation is answered after up to two minutes (interface §4.2). */
const HEADERS_TIMEOUT_MS = { creating: 180_000, reading: 30_000 };
/** Longest silence within an answer. */
const BODY_TIMEOUT_MS = 30_000;
/** An answer that still drips after this time is given up. */
const WHOLE_BODY_TIMEOUT_MS = 300_000;
/** Largest answer, after decompression. */
const MAX_ANSWER_BYTES = 64 * 1024 * 1024;

/** A request, the same at every try. */
export interface ExchangeRequest {
  readonly method: string;
  /** Below the base URL, with its query. */
  readonly path: string;
  readonly body?: RequestBody | string;
  readonly signal?: AbortSignal;
  readonly timeoutMs?: number;
  readonly onSent?: () => void;
  readonly ignoreActionRequire?: boolean;
}

/** What a try came to: an answer, which may report an error, or none that is the service's. */
export type Outcome = ({ readonly answer: RawAnswer } | { readonly error: PromptServiceError }) & {
  /** What the answer asked to wait, in milliseconds. */
  readonly retryAfterMs?: number | undefined;
};

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

/** Sends requests and judges their answers. */
export class Exchange {
  readonly #options: ExchangeOptions;
  readonly #redaction: Redaction;

  constructor(options: ExchangeOptions) {
    this.#options = options;
    this.#redaction = new Redaction(options.apiKey);
  }

  /** One try; throws only the signal's reason and faults of the request's own body. */
  async once(request: ExchangeRequest, attempt: number): Promise<Outcome> {
    const startedAt = this.#options.now();
    const report = (kind: RequestEvent['kind'], more: Partial<RequestEvent> = {}): void =>
      this.#report(kind, request, attempt, { ms: this.#options.now() - startedAt, ...more });
    this.#report('request', request, attempt);
    try {
      const { response, text } = await this.#answered(request);
      report('answer', { status: response.status });
      return this.#judged(request, response, text);
    } catch (error) {
      if (request.signal?.aborted) throw request.signal.reason;
      if (!(error instanceof PromptServiceError)) throw error;
      report('failure', { message: error.message });
      return { error };
    }
  }

  /** Tells that the request is going to be made again. */
  retrying(request: ExchangeRequest, attempt: number, waitMs: number): void {
    this.#report('retry', request, attempt, { waitMs });
  }

  async #answered(request: ExchangeRequest): Promise<{ response: TransportResponse; text: string }> {
    let sent = false;
    const deadline = new Deadline(request.signal);
    const late = (): NetworkError =>
      new NetworkError(`no whole answer to ${nameOf(request)} in time`, { nothingSent: !sent });
    deadline.limit(request.timeoutMs, late);
    try {
      const response = await this.#send(request, deadline.signal, () => {
        sent = true;
        request.onSent?.();
      });
      deadline.limit(WHOLE_BODY_TIMEOUT_MS, late);
      this.#noteHeaders(request, response);
      return { response, text: isRedirect(response) ? await leave(response) : await textOf(response) };
    } finally {
      deadline.end();
    }
  }

  async #send(request: ExchangeRequest, signal: AbortSignal, onSent: () => void): Promise<TransportResponse> {
    const transport = await this.#options.transport();
    const { method, body } = request;
    return transport.request({
      method,
      url: this.#options.baseUrl + request.path,
      headers: this.#headers(body !== undefined),
      ...(body !== undefined && { body }),
      signal,
      onSent,
      headersTimeoutMs: method === 'GET' ? HEADERS_TIMEOUT_MS.reading : HEADERS_TIMEOUT_MS.creating,
      bodyTimeoutMs: BODY_TIMEOUT_MS,
    });
  }

  #headers(hasBody: boolean): Record<string, string> {
    const { apiKey, userAgent, agentHash } = this.#options;
    const hash = agentHash?.();
    return {
      authorization: `Bearer ${apiKey}`,
      accept: 'application/json',
      'accept-encoding': ACCEPTED_ENCODINGS,
      'user-agent': userAgent,
      ...(hash !== undefined && { [CLI_AGENT_HEADER]: hash }),
      ...(hasBody && { 'content-type': 'application/json' }),
    };
  }

  #noteHeaders(request: ExchangeRequest, response: TransportResponse): void {
    const date = dateOf(response);
    if (date !== undefined) this.#options.clock.learn(date, this.#options.now());
    if (request.ignoreActionRequire || response.headers[ACTION_REQUIRE_HEADER] === undefined) return;
    this.#options.onActionRequire?.();
  }

  #judged(request: ExchangeRequest, response: TransportResponse, text: string): Outcome {
    const { status: httpStatus, headers } = response;
    const date = dateOf(response);
    const retryAfterMs = retryAfter(headerOf(headers, 'retry-after'), date ?? this.#options.now());
    try {
      if (isRedirect(response)) throw redirected(request, response, this.#options.baseUrl);
      const envelope = this.#envelope(request, response, text);
      const circumstances = { method: request.method, httpStatus, retryAfterMs };
      const error = isSuccess(envelope) ? undefined : serviceError(envelope, circumstances);
      return { answer: { httpStatus, headers, text, envelope, date, error }, retryAfterMs };
    } catch (error) {
      if (!(error instanceof ProtocolError)) throw error;
      return { error: httpStatus === 429 ? refusedOnTheWay(error, retryAfterMs) : error, retryAfterMs };
    }
  }

  // Only what succeeded may hold the key: it may be a result. Errors are shown and logged.
  #envelope(request: ExchangeRequest, response: TransportResponse, text: string): Envelope<unknown> {
    const { status: httpStatus, headers } = response;
    const redact = (shown: string): string => this.#redaction.text(shown);
    const envelope = envelopeOf({ httpStatus, headers, text, request: nameOf(request), redact });
    return isSuccess(envelope) ? envelope : this.#redaction.value(envelope);
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

function isRedirect({ status }: TransportResponse): boolean {
  return status >= 300 && status < 400;
}

function redirected(request: ExchangeRequest, response: TransportResponse, baseUrl: string): ProtocolError {
  const location = headerOf(response.headers, 'location');
  const base = baseUrl + request.path;
  const target =
    location !== undefined && URL.canParse(location, base) ? new URL(location, base).href : location;
  return new ProtocolError(
    `${nameOf(request)} was redirected to ${target ?? 'nowhere'} (HTTP ${response.status}); redirects of the service are not followed`,
    { httpStatus: response.status },
  );
}

/** An intermediary's 429 has no envelope, but means the same. */
function refusedOnTheWay(error: ProtocolError, retryAfterMs: number | undefined): RateLimitError {
  return new RateLimitError('TOO_MANY_REQUESTS_ERROR', error.message, {
    httpStatus: 429,
    ...(retryAfterMs !== undefined && { retryAfterMs }),
  });
}

async function leave({ body }: TransportResponse): Promise<string> {
  await body[Symbol.asyncIterator]().return?.();
  return '';
}

async function textOf({ headers, body }: TransportResponse): Promise<string> {
  const pieces: Uint8Array[] = [];
  for await (const piece of decoded(body, headerOf(headers, 'content-encoding'), MAX_ANSWER_BYTES)) {
    pieces.push(piece);
  }
  return Buffer.concat(pieces).toString('utf8');
}

function dateOf({ headers }: TransportResponse): number | undefined {
  const date = Date.parse(headerOf(headers, 'date') ?? '');
  return Number.isNaN(date) ? undefined : date;
}

function nameOf({ method, path }: ExchangeRequest): string {
  return `${method} ${path}`;
}
