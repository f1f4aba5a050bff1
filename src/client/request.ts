import type { Envelope } from '../wire/index.ts';
import type { ServiceError } from './errors.ts';
import type { AnswerHeaders, Transport } from './transport.ts';

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

/** What one request may be given. */
export interface RequestOptions {
  /** Values that are undefined are left out. */
  readonly query?: Readonly<Record<string, string | number | undefined>>;
  /** Sent as JSON; a `RequestBody` is sent as it is and must be JSON already. */
  readonly body?: unknown;
  /** Aborts at once, with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
  /** Bounds each try, from connecting to the last byte of the answer, in milliseconds. */
  readonly timeoutMs?: number | undefined;
  /** Tries after the first; 3 by default. */
  readonly retries?: number | undefined;
  /** Asked before each try; by default the client's own (`PromptService.withPace`), if it has one. */
  readonly pace?: Pace | undefined;
  /**
   * Sent as `Idempotency-Key`, the same at every try. A service that doesn't keep such keys ignores it
   * (`PromptService.keepsIdempotencyKeys`).
   */
  readonly idempotencyKey?: string | undefined;
  /** Called at each try, when the request is about to be written to a connection. */
  readonly onSent?: (() => void) | undefined;
  /** Called before each wait for another try; nothing came of the one before, where it was not a GET. */
  readonly onRetry?: (() => void) | undefined;
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
