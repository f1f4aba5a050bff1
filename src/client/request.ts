import type { Envelope } from '../wire/index.ts';
import type { ServiceError } from './errors.ts';
import type { AnswerHeaders } from './transport.ts';

/** What one request may be given. */
export interface RequestOptions {
  /** Values that are undefined are left out. */
  readonly query?: Readonly<Record<string, string | number | undefined>>;
  /** Sent as JSON; a `RequestBody` is sent as it is and must be JSON already. */
  readonly body?: unknown;
  /** Aborts at once, with the signal's reason. */
  readonly signal?: AbortSignal;
  /** Bounds each try, from connecting to the last byte of the answer, in milliseconds. */
  readonly timeoutMs?: number;
  /** Tries after the first; 3 by default. */
  readonly retries?: number;
  /** Asked before each try; by default the client's own (`PromptService.withPace`), if it has one. */
  readonly pace?: Pace;
  /**
   * Sent as `Idempotency-Key`, the same at every try. A service that doesn't keep such keys ignores it
   * (`PromptService.keepsIdempotencyKeys`).
   */
  readonly idempotencyKey?: string;
  /** Called at each try, when the request is about to be written to a connection. */
  readonly onSent?: () => void;
  /** Called before each wait for another try; nothing came of the one before, where it was not a GET. */
  readonly onRetry?: () => void;
  /** Does not report an answer's wish for new resources. */
  readonly ignoreActionRequire?: boolean;
}

/** What the reading methods may be given; see `RequestOptions`. */
export type ReadOptions = Pick<RequestOptions, 'signal' | 'timeoutMs' | 'retries' | 'pace'>;

/** An answer in the service's envelope, as it came, the key masked outside the outputs of runs. */
export interface RawAnswer {
  readonly httpStatus: number;
  readonly headers: AnswerHeaders;
  readonly text: string;
  readonly envelope: Envelope<unknown>;
  /** The service's own time, in milliseconds since the Unix epoch, where it sent it. */
  readonly date: number | undefined;
  /** What `request` would have thrown. */
  readonly error: ServiceError | undefined;
}

/** A success. */
export interface Answer<T> extends Omit<RawAnswer, 'error'> {
  readonly data: T;
}

/** What the typed methods are built on. */
export interface Requester {
  request<T>(method: string, path: string, options?: RequestOptions): Promise<Answer<T>>;
}

/** Spreads requests out, so that a service's rate limit is kept. */
export interface Pace {
  /** Resolves when the next request may be sent; rejects with the signal's reason once it is aborted. */
  turn(signal: AbortSignal | undefined): Promise<void>;
  /** Called with every try that came to an end. */
  answered(answer: PacedAnswer): void;
}

export interface PacedAnswer {
  /** Whether there were too many requests (429). */
  readonly limited: boolean;
  /** What the answer asked to wait, in milliseconds; undefined where it did not say. */
  readonly retryAfterMs: number | undefined;
  /** How fast the service says that a client may go (its `RateLimit-Policy` header). */
  readonly policy?: string | undefined;
}

/** What happens to a request; for display and logs. Nothing in it holds the key. */
export interface RequestEvent {
  readonly kind: 'request' | 'answer' | 'failure' | 'retry';
  readonly method: string;
  readonly url: string;
  /** From 1. */
  readonly attempt: number;
  /** HTTP status of an answer. */
  readonly status?: number;
  /** Time from the request to the whole answer or its failure. */
  readonly ms?: number;
  /** Time until the next try. */
  readonly waitMs?: number;
  /** What went wrong. */
  readonly message?: string;
  /** The headers by which client and service agree, if there are any. */
  readonly headers?: Readonly<Record<string, string>>;
  /** The beginning of the body, with `ClientOptions.eventBodies`. */
  readonly body?: string;
}
