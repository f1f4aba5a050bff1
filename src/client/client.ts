import type { Run, RunInputs } from '../wire/index.ts';
import type { Download, DownloadOptions } from './download.ts';
import { InvalidRequestError } from './errors.ts';
import { staysBelowBase } from './http/base-url.ts';
import { HttpSession, type ServiceClock, type SessionRequest } from './http/http-session.ts';
import { AccountApi } from './nouns/account.ts';
import { Prompts, Versions } from './nouns/prompts.ts';
import { ResourcesApi } from './nouns/resources.ts';
import { Runs } from './nouns/runs.ts';
import type {
  Answer,
  ClientOptions,
  Pace,
  RawAnswer,
  Requester,
  RequestOptions,
} from './request-options.ts';
import type { RunPromptOptions } from './run-prompt.ts';
import type { RequestBody } from './transport.ts';
import { type WaitOptions, waitForRun } from './wait-for-run.ts';

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
  constructor(
    options: ClientOptions,
    session: HttpSession = new HttpSession(options),
    pace?: Pace,
  ) {
    this.baseUrl = session.baseUrl;
    this.now = session.now;
    this.random = session.random;
    this.sleep = session.sleep;
    this.#options = options;
    this.#session = session;
    this.#pace = pace;
  }

  /** The service's clock, as its answers show it. */
  get clock(): ServiceClock {
    return this.#session.clock;
  }

  /**
   * True if the service keeps the `Idempotency-Key` of a creation, so that sending the creation
   * again returns the same run. Undefined until the service has answered.
   */
  get keepsIdempotencyKeys(): boolean | undefined {
    return this.#session.keepsIdempotencyKeys;
  }

  /** Returns the value with the key masked in every string, outputs of runs included. */
  redact<T>(value: T): T {
    return this.#session.redaction.redactValue(value);
  }

  /**
   * Returns a client that shares this one's connections and sends every request at `pace`, retries,
   * polls and downloads included. Closing either closes both.
   */
  withPace(pace: Pace): PromptService {
    return new PromptService(this.#options, this.#session, pace);
  }

  /**
   * Calls the service and retries if that is safe: a GET after network faults, 429 and 5xx; any
   * other method only after 429 or if nothing was sent.
   *
   * @throws {ServiceError} or a subclass for an error envelope
   * @throws {NetworkError} if no complete answer came
   * @throws {ProtocolError} for an answer that is not an envelope, and for redirects
   * @throws {InvalidRequestError} before anything is sent
   */
  async request<T>(method: string, path: string, options: RequestOptions = {}): Promise<Answer<T>> {
    const answer = await this.raw(method, path, options);
    if (answer.error) throw answer.error;
    return { ...answer, data: answer.envelope.data as T };
  }

  /**
   * Calls the service like `request`, but returns error envelopes instead of throwing them.
   *
   * @throws {NetworkError | ProtocolError | InvalidRequestError} as `request` does
   */
  async raw(method: string, path: string, options: RequestOptions = {}): Promise<RawAnswer> {
    if (!staysBelowBase(path)) {
      throw new InvalidRequestError(`${JSON.stringify(path)} is not a path below ${this.baseUrl}`);
    }

    const request = buildSessionRequest(method.toUpperCase(), path, {
      ...options,
      pace: options.pace ?? this.#pace,
    });
    const { answer, error } = await this.#session.send(request);
    if (error) error.context = this.#options.errorContext;
    if (answer === undefined) throw error;

    return answer;
  }

  /**
   * Fetches generated media without sending the key. Follows up to 5 redirects. Each URL must be
   * https, at the service's own origin, or plain http between loopback addresses, and a public
   * service can't redirect into a private network. URLs that the transport owns are not checked.
   *
   * @throws {NotFoundError} for 403, 404 and 410, because such URLs expire after 24 hours
   * @throws {NetworkError} also while the body is read, if it is cut short
   * @throws {ProtocolError} for a URL that is refused, and for any answer but 200
   */
  async download(url: string, options: DownloadOptions = {}): Promise<Download> {
    const { download } = await import('./download.ts');
    return download(url, this.#session, { ...options, pace: options.pace ?? this.#pace });
  }

  /**
   * Creates a run, waits until it ends, and returns it, succeeded or failed.
   *
   * @param target the id of a prompt version or of a prompt, or a slug
   * @param inputs `{textInputs, imageInputs}`, or a map of texts
   * @throws {WaitTimeoutError} if `timeoutMs` passes while waiting; the run continues
   * @throws {InvalidRequestError} if no prompt has this slug
   * @throws whatever `runs.create` and `waitForRun` throw
   */
  async run(
    target: string,
    inputs: RunInputs | Readonly<Record<string, string>> = {},
    options: RunPromptOptions = {},
  ): Promise<Run> {
    const { runPrompt } = await import('./run-prompt.ts');
    return runPrompt(this, target, inputs, options);
  }

  /** Calls `waitForRun` with this client. */
  waitForRun(runId: string, options?: WaitOptions): Promise<Run> {
    return waitForRun(this, runId, options);
  }

  /** Closes every connection. Requests that wait for a retry fail immediately. */
  close(): Promise<void> {
    return this.#session.close();
  }
}

function buildSessionRequest(
  method: string,
  path: string,
  options: RequestOptions,
): SessionRequest {
  const { query = {}, body, ...rest } = options;
  const params = new URLSearchParams();
  for (const [key, value] of Object.entries(query)) {
    if (value !== undefined) params.set(key, String(value));
  }

  const search = params.toString();
  const target = search === '' ? path : `${path}${path.includes('?') ? '&' : '?'}${search}`;
  return { ...rest, method, path: target, body: encodeBody(body) };
}

function encodeBody(body: unknown): RequestBody | string | undefined {
  return isRequestBody(body) ? body : JSON.stringify(body);
}

function isRequestBody(body: unknown): body is RequestBody {
  return (
    typeof body === 'object' &&
    body !== null &&
    'chunks' in body &&
    typeof body.chunks === 'function'
  );
}
