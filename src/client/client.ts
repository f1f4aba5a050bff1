import type { Run, RunInputs } from '../wire/index.ts';
import { AccountApi } from './account.ts';
import type { Download, DownloadOptions } from './download.ts';
import { InvalidRequestError } from './errors.ts';
import { HttpSession, type ServiceClock, type SessionRequest } from './http-session.ts';
import { staysBelowBase } from './path.ts';
import { type WaitOptions, waitForRun } from './poll.ts';
import { Prompts, Versions } from './prompts.ts';
import type { Answer, ClientOptions, Pace, RawAnswer, Requester, RequestOptions } from './request.ts';
import { ResourcesApi } from './resources.ts';
import type { RunPromptOptions } from './run-prompt.ts';
import { Runs } from './runs.ts';
import type { RequestBody } from './transport.ts';

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
  constructor(options: ClientOptions, session: HttpSession, pace: Pace);
  constructor(options: ClientOptions, session: HttpSession = new HttpSession(options), pace?: Pace) {
    this.baseUrl = session.baseUrl;
    this.now = session.now;
    this.random = session.random;
    this.sleep = session.sleep;
    this.#options = options;
    this.#session = session;
    this.#pace = pace;
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
    return new PromptService(this.#options, this.#session, pace);
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
    if (!staysBelowBase(path)) {
      throw new InvalidRequestError(`${JSON.stringify(path)} is not a path below ${this.baseUrl}`);
    }
    const request = sessionRequest(method.toUpperCase(), path, {
      ...options,
      pace: options.pace ?? this.#pace,
    });
    const { answer, error } = await this.#session.send(request);
    if (error) error.context = this.#options.errorContext;
    if (answer === undefined) throw error;
    return answer;
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
    const { download } = await import('./download.ts');
    return download(url, this.#session, { ...options, pace: options.pace ?? this.#pace });
  }

  /**
   * Creates a run, waits until it has ended, and gives it, succeeded or failed.
   *
   * @param target the id of a prompt version or of a prompt, or a slug
   * @param inputs `{textInputs, imageInputs}`, or a map of texts
   * @throws {WaitTimeoutError} when `timeoutMs` is over while it is waited for; the run goes on
   * @throws what `runs.create` and `waitForRun` throw; `InvalidRequestError` if no prompt has this slug
   */
  async run(
    target: string,
    inputs: RunInputs | Readonly<Record<string, string>> = {},
    options: RunPromptOptions = {},
  ): Promise<Run> {
    const { runPrompt } = await import('./run-prompt.ts');
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
}

function sessionRequest(method: string, path: string, options: RequestOptions): SessionRequest {
  const { query = {}, body, ...rest } = options;
  const params = new URLSearchParams();
  for (const [key, value] of Object.entries(query)) {
    if (value !== undefined) params.set(key, String(value));
  }
  const search = params.toString();
  const target = search === '' ? path : `${path}${path.includes('?') ? '&' : '?'}${search}`;
  return { ...rest, method, path: target, body: encoded(body) };
}

function encoded(body: unknown): RequestBody | string | undefined {
  return isRequestBody(body) ? body : JSON.stringify(body);
}

function isRequestBody(body: unknown): body is RequestBody {
  return typeof body === 'object' && body !== null && 'chunks' in body && typeof body.chunks === 'function';
}
