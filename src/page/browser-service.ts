import { GatewayTimeoutError, NetworkError } from '../client/errors.ts';
import { type AttemptOutcome, parseResponse } from '../client/http/parse-response.ts';
import { Redaction } from '../client/http/redaction.ts';
import { computeRetryDelay, createRetryPolicy } from '../client/http/retry.ts';
import { AccountApi } from '../client/nouns/account.ts';
import { Prompts, Versions } from '../client/nouns/prompts.ts';
import { ResourcesApi } from '../client/nouns/resources.ts';
import { Runs } from '../client/nouns/runs.ts';
import type { Answer, Requester, RequestOptions } from '../client/request-options.ts';
import type { Model, PromptSearchRow, PromptVersion } from '../wire/index.ts';
import { resolvePageUrl } from './addresses.ts';

/** A client for the service that served this page, over the browser's `fetch`. */
export class BrowserService implements Requester {
  readonly runs: Runs = new Runs(this);
  readonly versions: Versions = new Versions(this);
  readonly account: AccountApi = new AccountApi(this);
  readonly now = Date.now;
  readonly random = Math.random;
  readonly sleep = pause;
  readonly #key: string;
  readonly #versions = new Map<string, Promise<PromptVersion | undefined>>();

  constructor(key: string) {
    this.#key = key;
  }

  async listPrompts(): Promise<readonly PromptSearchRow[]> {
    const rows: PromptSearchRow[] = [];
    for await (const row of new Prompts(this).all()) rows.push(row);
    return rows;
  }

  /**
   * Returns all models, in the order of the prompts' indexes; none if they can't be read, because
   * they are optional.
   */
  async listModels(): Promise<readonly Model[]> {
    const answer = await new ResourcesApi(this).get().catch(() => undefined);
    return answer?.resources.models ?? [];
  }

  /** Returns a prompt version, fetched once; undefined if it can't be read or is not published. */
  getVersion(promptVersionId: string): Promise<PromptVersion | undefined> {
    const version =
      this.#versions.get(promptVersionId) ??
      this.versions.get(promptVersionId).catch(() => {
        this.#versions.delete(promptVersionId);
        return undefined;
      });
    this.#versions.set(promptVersionId, version);
    return version;
  }

  /**
   * Sends a request with retries, also of requests with an idempotency key, because this service
   * supports it.
   */
  async request<T>(method: string, path: string, options: RequestOptions = {}): Promise<Answer<T>> {
    for (let attempt = 1; ; attempt += 1) {
      const { answer, error, retryAfterMs } = await this.#attempt(method, path, options);
      if (answer && !error) return { ...answer, data: answer.envelope.data as T };

      const retryMethod = options.idempotencyKey === undefined ? method : 'GET';
      const failedRequest = { method: retryMethod, attempt, error, retryAfterMs };
      const policy = createRetryPolicy(options.retries);
      const waitMs =
        error instanceof GatewayTimeoutError
          ? undefined
          : computeRetryDelay(failedRequest, this.random, policy);
      if (error && waitMs === undefined) throw error;

      await pause(waitMs ?? 0, options.signal);
    }
  }

  async #attempt(method: string, path: string, options: RequestOptions): Promise<AttemptOutcome> {
    const { query = {}, body, idempotencyKey, signal } = options;
    const url = resolvePageUrl(`v1${path}`);
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
      const answer = {
        method,
        url: url.href,
        httpStatus: response.status,
        headers,
        text,
        receivedAt: Date.now(),
      };

      return parseResponse(answer, new Redaction(this.#key));
    } catch (cause) {
      signal?.throwIfAborted();
      return {
        error: new NetworkError('The service does not answer.', { nothingSent: false, cause }),
      };
    }
  }
}

async function pause(ms: number, signal?: AbortSignal): Promise<void> {
  signal?.throwIfAborted();
  await new Promise<void>((resolve, reject) => {
    const onAbort = (): void => {
      clearTimeout(timer);
      reject(signal?.reason as Error);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', onAbort);
      resolve();
    }, ms);
    signal?.addEventListener('abort', onAbort);
  });
}
