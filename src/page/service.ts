import { AccountApi } from '../client/account.ts';
import { GatewayTimeoutError, NetworkError } from '../client/errors.ts';
import { type Outcome, parseResponse } from '../client/parse-response.ts';
import { Prompts, Versions } from '../client/prompts.ts';
import { Redaction } from '../client/redaction.ts';
import type { Answer, Requester, RequestOptions } from '../client/request.ts';
import { ResourcesApi } from '../client/resources.ts';
import { retryDelay, withRetries } from '../client/retry.ts';
import { Runs } from '../client/runs.ts';
import type { Model, PromptSearchRow, PromptVersion } from '../wire/index.ts';

/** The service that this page came from, by the methods that the command uses, over the browser's `fetch`. */
export class BrowserService implements Requester {
  readonly runs: Runs = new Runs(this);
  readonly versions: Versions = new Versions(this);
  readonly account: AccountApi = new AccountApi(this);
  readonly now = Date.now;
  readonly random = Math.random;
  readonly sleep = sleep;
  readonly #key: string;
  readonly #versions = new Map<string, Promise<PromptVersion | undefined>>();

  constructor(key: string) {
    this.#key = key;
  }

  /** Every prompt that is published now. */
  async prompts(): Promise<readonly PromptSearchRow[]> {
    const rows: PromptSearchRow[] = [];
    for await (const row of new Prompts(this).all()) rows.push(row);
    return rows;
  }

  /** Every model in the order in which prompts count them; none if they can't be read, as nothing needs them. */
  async models(): Promise<readonly Model[]> {
    const answer = await new ResourcesApi(this).get().catch(() => undefined);
    return answer?.resources.models ?? [];
  }

  /** The prompt that a version belongs to, asked for once; undefined if it can't be read, or is not published. */
  promptOf(promptVersionId: string): Promise<PromptVersion | undefined> {
    const version =
      this.#versions.get(promptVersionId) ??
      this.versions.get(promptVersionId).catch(() => {
        this.#versions.delete(promptVersionId);
        return undefined;
      });
    this.#versions.set(promptVersionId, version);
    return version;
  }

  /** As the command's client does it; what carries an idempotency key is repeated too, as this service keeps such keys. */
  async request<T>(method: string, path: string, options: RequestOptions = {}): Promise<Answer<T>> {
    for (let attempt = 1; ; attempt += 1) {
      const { answer, error, retryAfterMs } = await this.#attempt(method, path, options);
      if (answer && !error) return { ...answer, data: answer.envelope.data as T };
      const repeatable = options.idempotencyKey === undefined ? method : 'GET';
      const failed = { method: repeatable, attempt, error, retryAfterMs };
      const policy = withRetries(options.retries);
      const waitMs =
        error instanceof GatewayTimeoutError ? undefined : retryDelay(failed, this.random, policy);
      if (error && waitMs === undefined) throw error;
      await sleep(waitMs ?? 0, options.signal);
    }
  }

  async #attempt(method: string, path: string, options: RequestOptions): Promise<Outcome> {
    const { query = {}, body, idempotencyKey, signal } = options;
    const url = addressBelow(`v1${path}`);
    for (const [name, value] of Object.entries(query)) {
      if (value !== undefined) url.searchParams.set(name, String(value));
    }
    try {
      const response = await fetch(url, {
        method,
        headers: {
          authorization: `Bearer ${this.#key}`,
          ...(body !== undefined && { 'content-type': 'application/json' }),
          ...(idempotencyKey !== undefined && { 'idempotency-key': idempotencyKey }),
        },
        ...(body !== undefined && { body: JSON.stringify(body) }),
        ...(signal && { signal }),
        cache: 'no-store',
        credentials: 'omit',
        redirect: 'error',
      });
      const headers = Object.fromEntries(response.headers);
      const text = await response.text();
      const received = {
        method,
        url: url.href,
        httpStatus: response.status,
        headers,
        text,
        receivedAt: Date.now(),
      };
      return parseResponse(received, new Redaction(this.#key));
    } catch (cause) {
      signal?.throwIfAborted();
      return { error: new NetworkError('The service does not answer.', { nothingSent: false, cause }) };
    }
  }
}

/** What a view is given: the service, where it draws, and when it is left. */
export interface Place {
  readonly service: BrowserService;
  readonly main: HTMLElement;
  /** Gives the view another title. */
  entitle(title: string): void;
  /** Aborted as soon as another view is shown, or nobody is signed in any more. */
  readonly signal: AbortSignal;
  /** What stands after the name of the view in the address. */
  readonly path: readonly string[];
  /** Shows what `work` ends with if it fails, in `at` or instead of the view; a refused key leads to signing in. */
  guard(work: Promise<void>, at?: HTMLElement): void;
}

/** An address below that of the page, whatever path a proxy has put before it. */
export function addressBelow(path: string): URL {
  return new URL(path, document.baseURI);
}

/** The picture or video of an output, from where the page itself came from; undefined if it is not the service's own. */
export function mediaAddress(url: string): string | undefined {
  if (!URL.canParse(url)) return undefined;
  const { pathname, search } = new URL(url);
  const file = /\/(media\/[^/]+)$/u.exec(pathname)?.[1];
  return file === undefined ? undefined : addressBelow(file + search).href;
}

async function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  signal?.throwIfAborted();
  await new Promise<void>((resolve, reject) => {
    const timer = setTimeout(resolve, ms);
    signal?.addEventListener('abort', () => {
      clearTimeout(timer);
      reject(signal.reason as Error);
    });
  });
}
