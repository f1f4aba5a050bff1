import { RATE_LIMIT_POLICY_HEADER, type Run, type RunInputs } from '../wire/index.ts';
import { AccountApi } from './account.ts';
import { type Download, type DownloadOptions, download } from './download.ts';
import { InvalidRequestError, RateLimitError } from './errors.ts';
import { HttpSession, type SessionOptions, type SessionRequest } from './http-session.ts';
import type { Outcome } from './parse-response.ts';
import { staysBelowBase } from './path.ts';
import { type WaitOptions, waitForRun } from './poll.ts';
import { Prompts, Versions } from './prompts.ts';
import type { Answer, Pace, RawAnswer, RequestEvent, Requester, RequestOptions } from './request.ts';
import { ResourcesApi } from './resources.ts';
import { MAX_ATTEMPTS, retryDelay } from './retry.ts';
import { type RunPromptOptions, runPrompt } from './run-prompt.ts';
import { Runs } from './runs.ts';
import type { ServiceClock } from './service-clock.ts';
import { sleep as realSleep } from './signals.ts';
import type { RequestBody, Transport } from './transport.ts';
import { headerOf } from './transport.ts';
import { createTransport } from './undici-transport.ts';
import { baseUrlOf } from './urls.ts';

/** How a client reaches the service, and whose key it uses. */
export interface ClientOptions {
  /** Ends in `/v1`; added where it is missing. */
  readonly baseUrl: string;
  /** Sent to the origin of `baseUrl` and nowhere else. */
  readonly apiKey: string;
  /** Or what makes it when the first request is sent. By default undici, without a proxy. Closed together with the client. */
  readonly transport?: Transport | (() => Promise<Transport>);
  /** Waits between tries; rejects with the signal's reason once it is aborted. */
  readonly sleep?: (ms: number, signal?: AbortSignal) => Promise<void>;
  /** Milliseconds since the Unix epoch; by default the system's clock. */
  readonly now?: () => number;
  /** Jitter, from 0 up to 1. */
  readonly random?: () => number;
  /** What is sent as `cli-agent`: the hash of the resources that are cached; asked at each request. */
  readonly cliAgent?: () => string | undefined;
  /** Called when an answer asks for the resources to be fetched again. */
  readonly onActionRequire?: () => void;
  /** Called with each request, answer, failure and retry; nothing in it holds the key. */
  readonly onEvent?: (event: RequestEvent) => void;
  /** Whether events hold the first 4 KiB of bodies, the key masked. False by default. */
  readonly eventBodies?: boolean;
  /** Given as `context` with every error of a request, to tell whose it is if there are several clients. */
  readonly errorContext?: unknown;
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
  readonly now: () => number;
  readonly random: () => number;
  readonly sleep: (ms: number, signal?: AbortSignal) => Promise<void>;
  readonly #options: ClientOptions;
  readonly #session: HttpSession;
  readonly #pace: Pace | undefined;

  /** @throws {InvalidRequestError} for a base URL or a key that can't be used */
  constructor(options: ClientOptions);
  /** @internal */
  constructor(options: ClientOptions, shared: { readonly session: HttpSession; readonly pace: Pace });
  constructor(options: ClientOptions, shared?: { readonly session: HttpSession; readonly pace: Pace }) {
    this.baseUrl = baseUrlOf(options.baseUrl);
    this.now = options.now ?? Date.now;
    this.random = options.random ?? Math.random;
    this.sleep = options.sleep ?? realSleep;
    this.#options = options;
    this.#session = shared?.session ?? new HttpSession(sessionOptions(options, this.baseUrl, this.now));
    this.#pace = shared?.pace;
  }

  /** What is known of the service's clock. */
  get clock(): ServiceClock {
    return this.#session.clock;
  }

  /**
   * Whether the service keeps the `Idempotency-Key` of a creation, as its latest answer said: the same creation sent
   * again then gives the one run. Undefined while it has not answered.
   */
  get keepsIdempotencyKeys(): boolean | undefined {
    return this.#session.keepsIdempotencyKeys;
  }

  /** A value with the key masked in every text of it, outputs of runs included. */
  redact<T>(value: T): T {
    return this.#session.redaction.value(value);
  }

  /** This client with a pace that every request asks, tries again, polls and downloads included; they close together. */
  withPace(pace: Pace): PromptService {
    return new PromptService(this.#options, { session: this.#session, pace });
  }

  /**
   * One call of the service, repeated where that is safe: GETs on network faults, 429 and 5xx; anything else only
   * on 429 and where nothing was sent.
   *
   * @throws {ServiceError} or one of its kinds for an error envelope
   * @throws {NetworkError} where no whole answer came
   * @throws {ProtocolError} for an answer that is not an envelope, and for redirects
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
   * What the transport owns is not checked.
   *
   * @throws {NotFoundError} for 403, 404 and 410, since such URLs live 24 hours
   * @throws {NetworkError} also while it is read, where it is cut short
   * @throws {ProtocolError} for a URL that is refused and for other answers than 200
   */
  async download(url: string, options: DownloadOptions = {}): Promise<Download> {
    const { baseUrl, sleep, random, now } = this;
    const { userAgent = USER_AGENT } = this.#options;
    const session = this.#session;
    const surroundings = { baseUrl, sleep, random, now, session, userAgent };
    return download(url, surroundings, { ...(this.#pace && { pace: this.#pace }), ...options });
  }

  /**
   * Creates a run, waits until it has ended, and gives it, succeeded or failed.
   *
   * @param target the id of a prompt version or of a prompt, or a slug
   * @param inputs `{textInputs, imageInputs}`, or a map of texts
   * @throws {WaitTimeoutError} when `timeoutMs` is over while it is waited for; the run goes on
   * @throws what `runs.create` and `waitForRun` throw; `InvalidRequestError` if no prompt has this slug
   */
  run(
    target: string,
    inputs: RunInputs | Readonly<Record<string, string>> = {},
    options: RunPromptOptions = {},
  ): Promise<Run> {
    return runPrompt(this, target, inputs, options);
  }

  /** `waitForRun` with this client. */
  waitForRun(runId: string, options?: WaitOptions): Promise<Run> {
    return waitForRun(this, runId, options);
  }

  /** Drops every connection; what still waits to be tried again fails at once. */
  close(): Promise<void> {
    return this.#session.close();
  }

  async #call(method: string, path: string, options: RequestOptions): Promise<Outcome> {
    if (!staysBelowBase(path)) {
      throw new InvalidRequestError(`${JSON.stringify(path)} is not a path below ${this.baseUrl}`);
    }
    const request = sessionRequest(method.toUpperCase(), path, options);
    const maxAttempts = options.retries === undefined ? MAX_ATTEMPTS : options.retries + 1;
    const pace = options.pace ?? this.#pace;
    for (let attempt = 1; ; attempt++) {
      await pace?.turn(options.signal);
      const outcome = await this.#session.attempt(request, attempt);
      const error = 'error' in outcome ? outcome.error : outcome.answer.error;
      const { retryAfterMs } = outcome;
      const headers = 'answer' in outcome ? outcome.answer.headers : {};
      const policy = headerOf(headers, RATE_LIMIT_POLICY_HEADER);
      pace?.answered({ limited: error instanceof RateLimitError, retryAfterMs, policy });
      if (error === undefined) return outcome;
      const failed = { method: request.method, attempt, maxAttempts, error, retryAfterMs };
      const waitMs = retryDelay(failed, this.random);
      if (waitMs === undefined || this.#session.isClosed) {
        error.context = this.#options.errorContext;
        return outcome;
      }
      this.#session.reportRetry(request, attempt, waitMs);
      options.onRetry?.();
      await this.sleep(waitMs, this.#session.untilClosed(options.signal));
    }
  }
}

const USER_AGENT = 'promptrun';

function sessionOptions(options: ClientOptions, baseUrl: string, now: () => number): SessionOptions {
  const { apiKey, userAgent = USER_AGENT, cliAgent, onActionRequire, onEvent, transport } = options;
  const makeTransport = async (): Promise<Transport> =>
    typeof transport === 'function' ? transport() : (transport ?? createTransport());
  const own = { baseUrl, now, apiKey: usableKey(apiKey), userAgent, makeTransport };
  return { ...own, cliAgent, onActionRequire, onEvent, eventBodies: options.eventBodies ?? false };
}

// What a header can't carry would be refused further down, by an error that repeats it.
function usableKey(key: string): string {
  if (/^[\x21-\x7e]+$/.test(key)) return key;
  throw new InvalidRequestError(
    'the API key is empty or holds characters that no key has; check for stray spaces',
  );
}

function sessionRequest(method: string, path: string, options: RequestOptions): SessionRequest {
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
