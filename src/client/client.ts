import type { Run } from '../wire/index.ts';
import { AccountApi } from './account.ts';
import { baseUrlOf } from './base-url.ts';
import { type Download, download } from './download.ts';
import { InvalidRequestError, NetworkError, RateLimitError } from './errors.ts';
import { Exchange, type ExchangeRequest } from './exchange.ts';
import type { Outcome } from './judge.ts';
import type { Pace } from './pace.ts';
import { staysBelowBase } from './path.ts';
import { type WaitOptions, waitForRun } from './poll.ts';
import { Prompts } from './prompts.ts';
import type { Answer, RawAnswer, RequestEvent, Requester, RequestOptions } from './request.ts';
import { ResourcesApi } from './resources.ts';
import { MAX_ATTEMPTS, retryDelay } from './retry.ts';
import { Runs } from './runs.ts';
import { ServiceClock } from './service-clock.ts';
import { sleep as realSleep } from './sleep.ts';
import { createTransport, type RequestBody, type Transport } from './transport.ts';
import { Versions } from './versions.ts';

export type { Answer, RawAnswer, RequestEvent, RequestOptions } from './request.ts';

/** How a client reaches the service, and whose key it uses. */
export interface ClientOptions {
  /** Ends in `/v1`; added where it is missing. */
  readonly baseUrl: string;
  /** Sent to the origin of `baseUrl` and nowhere else. */
  readonly apiKey: string;
  /** By default undici, without a proxy. Closed together with the client. */
  readonly transport?: Transport;
  /** Waits between tries; rejects with the signal's reason once it is aborted. */
  readonly sleep?: (ms: number, signal?: AbortSignal) => Promise<void>;
  /** Milliseconds since the Unix epoch; by default the system's clock. */
  readonly now?: () => number;
  /** Jitter, from 0 up to 1. */
  readonly random?: () => number;
  /** The resources hash held, sent as `cli-agent`; asked at each request (interface §4.6). */
  readonly agentHash?: () => string | undefined;
  /** Called when an answer asks for the resources to be fetched anew (interface §4.6). */
  readonly onActionRequire?: () => void;
  /** Told of each request, answer, failure and retry; nothing in it holds the key. */
  readonly onEvent?: (event: RequestEvent) => void;
  /** By default `promptrun`. */
  readonly userAgent?: string;
}

/** The Prompt Execution Service as typed methods. */
export class PromptService implements Requester {
  readonly baseUrl: string;
  readonly runs: Runs = new Runs(this);
  readonly prompts: Prompts = new Prompts(this);
  readonly versions: Versions = new Versions(this);
  readonly resources: ResourcesApi = new ResourcesApi(this);
  readonly account: AccountApi = new AccountApi(this);
  /** What is known of the service's clock. */
  readonly clock: ServiceClock = new ServiceClock();
  readonly now: () => number;
  readonly random: () => number;
  readonly sleep: (ms: number, signal?: AbortSignal) => Promise<void>;
  /** Asked before every request, tries again and downloads included; none by default. */
  pace: Pace | undefined;
  readonly #exchange: Exchange;
  readonly #options: ClientOptions;
  readonly #userAgent: string;
  readonly #closing = new AbortController();
  #transport: Promise<Transport> | undefined;

  /** @throws {InvalidRequestError} for a base URL or a key that can't be used */
  constructor(options: ClientOptions) {
    this.baseUrl = baseUrlOf(options.baseUrl);
    this.now = options.now ?? Date.now;
    this.random = options.random ?? Math.random;
    this.sleep = options.sleep ?? realSleep;
    this.#options = options;
    this.#userAgent = options.userAgent ?? 'promptrun';
    this.#exchange = new Exchange({
      baseUrl: this.baseUrl,
      apiKey: usableKey(options.apiKey),
      userAgent: this.#userAgent,
      agentHash: options.agentHash,
      onActionRequire: options.onActionRequire,
      onEvent: options.onEvent,
      now: this.now,
      clock: this.clock,
      transport: () => this.#transportInUse(),
    });
  }

  /**
   * Whether the service keeps the `Idempotency-Key` of a creation, as its latest answer said: the same creation sent
   * again then gives the one run. Undefined while it has not answered.
   */
  get keepsIdempotencyKeys(): boolean | undefined {
    return this.#exchange.keepsIdempotencyKeys;
  }

  /**
   * One call of the service, repeated where that is safe: GETs on network faults, 429 and 5xx; anything else only
   * on 429 and where nothing was sent.
   *
   * @throws {ServiceError} or one of its kinds for an error envelope (interface §7)
   * @throws {NetworkError} where no whole answer came
   * @throws {ProtocolError} for an answer that is no envelope, and for redirects
   * @throws {InvalidRequestError} before anything is sent
   */
  async request<T>(method: string, path: string, options: RequestOptions = {}): Promise<Answer<T>> {
    const answer = await this.raw(method, path, options);
    if (answer.error) throw answer.error;
    return { ...answer, data: answer.envelope.data as T };
  }

  /**
   * The same, with error envelopes returned instead of thrown.
   *
   * @throws {NetworkError | ProtocolError | InvalidRequestError} as `request` does
   */
  async raw(method: string, path: string, options: RequestOptions = {}): Promise<RawAnswer> {
    const outcome = await this.#call(method, path, options);
    if ('error' in outcome) throw outcome.error;
    return outcome.answer;
  }

  /**
   * Fetches generated media, without the key. Up to 5 redirects are followed, each checked: https, or the service's
   * own origin, or plain http between loopback addresses; never from a public service into a private network.
   *
   * @throws {NotFoundError} for 403, 404 and 410, since such URLs live 24 hours
   * @throws {NetworkError} also while it is read, where it is cut short
   * @throws {ProtocolError} for a URL that is refused and for other answers than 200
   */
  async download(url: string, options: { readonly signal?: AbortSignal } = {}): Promise<Download> {
    const { baseUrl, sleep, random, now } = this;
    const transport = await this.#transportInUse();
    await this.pace?.turn(options.signal);
    return download(url, { ...options, baseUrl, sleep, random, now, transport, userAgent: this.#userAgent });
  }

  /** `waitForRun` with this client. */
  waitForRun(runId: string, options?: WaitOptions): Promise<Run> {
    return waitForRun(this, runId, options);
  }

  /** Drops every connection; what still waits to be tried again fails at once. */
  async close(): Promise<void> {
    this.#closing.abort(new NetworkError('the client was closed', { nothingSent: false }));
    const transport = await this.#transport?.catch(() => undefined);
    await transport?.close();
  }

  async #call(method: string, path: string, options: RequestOptions): Promise<Outcome> {
    if (!staysBelowBase(path)) {
      throw new InvalidRequestError(`${JSON.stringify(path)} is no path below ${this.baseUrl}`);
    }
    const request = exchangeRequest(method.toUpperCase(), path, options);
    const maxAttempts = options.retries === undefined ? MAX_ATTEMPTS : options.retries + 1;
    for (let attempt = 1; ; attempt++) {
      await this.pace?.turn(options.signal);
      const outcome = await this.#exchange.once(request, attempt);
      const error = 'error' in outcome ? outcome.error : outcome.answer.error;
      const { retryAfterMs } = outcome;
      this.pace?.answered({ limited: error instanceof RateLimitError, retryAfterMs });
      if (error === undefined) return outcome;
      const waitMs = retryDelay(
        { method: request.method, attempt, maxAttempts, error, retryAfterMs },
        this.random,
      );
      if (waitMs === undefined || this.#closing.signal.aborted) return outcome;
      this.#exchange.retrying(request, attempt, waitMs);
      options.onRetry?.();
      await this.sleep(waitMs, eitherOf(this.#closing.signal, options.signal));
    }
  }

  #transportInUse(): Promise<Transport> {
    const { transport } = this.#options;
    this.#transport ??= transport ? Promise.resolve(transport) : createTransport();
    return this.#transport;
  }
}

function eitherOf(one: AbortSignal, other: AbortSignal | undefined): AbortSignal {
  return other === undefined ? one : AbortSignal.any([one, other]);
}

// What a header can't carry would be refused further down, by an error that repeats it.
function usableKey(key: string): string {
  if (/^[\x21-\x7e]+$/.test(key)) return key;
  throw new InvalidRequestError(
    'the API key is empty or holds characters that no key has; check for stray spaces',
  );
}

function exchangeRequest(method: string, path: string, options: RequestOptions): ExchangeRequest {
  const { query = {}, body, ...rest } = options;
  const params = new URLSearchParams();
  for (const [key, value] of Object.entries(query)) {
    if (value !== undefined) params.set(key, String(value));
  }
  const search = params.toString();
  const target = search === '' ? path : `${path}${path.includes('?') ? '&' : '?'}${search}`;
  return { method, path: target, ...(body !== undefined && { body: encoded(body) }), ...rest };
}

function encoded(body: unknown): RequestBody | string {
  return isRequestBody(body) ? body : JSON.stringify(body);
}

function isRequestBody(body: unknown): body is RequestBody {
  return typeof body === 'object' && body !== null && 'chunks' in body && typeof body.chunks === 'function';
}
