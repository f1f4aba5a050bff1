import type { Envelope } from '../wire/index.ts';
import type { ServiceError } from './errors.ts';
import type { AnswerHeaders, Transport } from './transport.ts';

/** Options of a client. */
export interface ClientOptions {
  /** The service's URL; `/v1` is added if it is missing. */
  readonly baseUrl: string;
  /** Sent only to the origin of `baseUrl`. */
  readonly apiKey: string;
  /**
   * True to allow plain http to other hosts than loopback, where others can read the key; false by
   * default.
   */
  readonly insecureHttp?: boolean;
  /**
   * A transport, or a function that opens one at the first request; default: undici without a
   * proxy. Closed with the client.
   */
  readonly transport?: Transport | (() => Promise<Transport>);
  /** Waits between attempts; must reject with the signal's reason once it is aborted. */
  readonly sleep?: (ms: number, signal?: AbortSignal) => Promise<void>;
  /** Returns milliseconds since the Unix epoch; default: the system's clock. */
  readonly now?: () => number;
  /** Returns jitter from 0 (inclusive) to 1 (exclusive); default: `Math.random`. */
  readonly random?: () => number;
  /** Returns the hash of the cached resources, sent as `cli-agent`; called for each request. */
  readonly cliAgent?: () => string | undefined;
  /** Called if an answer asks the client to refresh its resources. */
  readonly onActionRequire?: () => void;
  /** Called with each request, answer, failure and retry; nothing in it holds the key. */
  readonly onEvent?: (event: RequestEvent) => void;
  /** True to include the first 4 KiB of bodies in events, with the key masked; false by default. */
  readonly eventBodies?: boolean;
  /** Set as `context` on every error of a request, to distinguish several clients. */
  readonly errorContext?: unknown;
  /** Default: `promptrun`. */
  readonly userAgent?: string;
}

/** Options of one request. */
export interface RequestOptions {
  /** Query parameters; undefined values are left out. */
  readonly query?: Readonly<Record<string, string | number | undefined>>;
  /** Sent as JSON. A `RequestBody` is sent unchanged and must already be JSON. */
  readonly body?: unknown;
  /** Aborts the request with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
  /** Time limit of each attempt in milliseconds, from connecting to the last byte of the answer. */
  readonly timeoutMs?: number | undefined;
  /** Maximum number of retries; 3 by default. */
  readonly retries?: number | undefined;
  /**
   * Awaited before each attempt; default: the client's own pace (`PromptService.withPace`), if any.
   */
  readonly pace?: Pace | undefined;
  /** Aborts the waits before attempts with the signal's reason, but no attempt that has begun. */
  readonly unsentSignal?: AbortSignal | undefined;
  /**
   * Sent as `Idempotency-Key`, the same at every attempt. A service that doesn't keep such keys
   * ignores it (`PromptService.keepsIdempotencyKeys`).
   */
  readonly idempotencyKey?: string | undefined;
  /** Called at each attempt, just before the request is written to a connection. */
  readonly onSent?: (() => void) | undefined;
  /**
   * Called before the wait for each retry. A retry of anything but a GET means that the attempt had
   * no effect.
   */
  readonly onRetry?: (() => void) | undefined;
  /** True to ignore `action-require` in the answer; false by default. */
  readonly ignoreActionRequire?: boolean;
}

/** Options of the reading methods; see `RequestOptions`. */
export type ReadOptions = Pick<RequestOptions, 'signal' | 'timeoutMs' | 'retries' | 'pace'>;

/**
 * An answer with its envelope, unchanged except that the key is masked outside the outputs of runs.
 */
export interface RawAnswer {
  readonly httpStatus: number;
  readonly headers: AnswerHeaders;
  readonly text: string;
  readonly envelope: Envelope<unknown>;
  /** The service's time, in milliseconds since the Unix epoch; undefined if it sent none. */
  readonly date: number | undefined;
  /** The error that `request` would throw; undefined for a success. */
  readonly error: ServiceError | undefined;
}

/** A success. */
export interface Answer<T> extends Omit<RawAnswer, 'error'> {
  readonly data: T;
}

/** The request function that the typed methods are built on. */
export interface Requester {
  request<T>(method: string, path: string, options?: RequestOptions): Promise<Answer<T>>;
}

/** Spaces requests out to keep within a service's rate limit. */
export interface Pace {
  /**
   * Resolves when the next request may be sent; rejects with the signal's reason once it is
   * aborted.
   */
  turn(signal: AbortSignal | undefined): Promise<void>;
  /** Called after every attempt. */
  answered(answer: PacedAnswer): void;
}

export interface PacedAnswer {
  /** True if the answer was 429. */
  readonly limited: boolean;
  /** The wait that the answer asked for, in milliseconds; undefined if it named none. */
  readonly retryAfterMs: number | undefined;
  /** The `RateLimit-Policy` header of the answer, which says how fast a client may go. */
  readonly policy?: string | undefined;
}

/** A step of a request, for display and logs; never holds the key. */
export interface RequestEvent {
  readonly kind: 'request' | 'answer' | 'failure' | 'retry';
  readonly method: string;
  readonly url: string;
  /** The number of the attempt, from 1. */
  readonly attempt: number;
  /** HTTP status of an answer. */
  readonly status?: number;
  /** Milliseconds from the request to the whole answer or the failure. */
  readonly ms?: number;
  /** Milliseconds until the retry. */
  readonly waitMs?: number;
  /** The message of a failure. */
  readonly message?: string;
  /** The notable headers of the request or answer, if any. */
  readonly headers?: Readonly<Record<string, string>>;
  /** The first 4 KiB of the body, with `ClientOptions.eventBodies`. */
  readonly body?: string;
}
