/** The base class of every error of the client. */
export abstract class PromptServiceError extends Error {
  override readonly name: string = 'PromptServiceError';
  /**
   * The service's status code, or one of the client's own for faults that the service did not
   * report.
   */
  abstract readonly status: string;
  /** The HTTP status of the answer; undefined if none came. */
  readonly httpStatus: number | undefined;
  /** The envelope's `data`; null if it has none. */
  readonly data: unknown;
  /** The `errorContext` of the client whose request failed; undefined for other errors. */
  context: unknown;

  constructor(
    message: string,
    options: { httpStatus?: number; data?: unknown; cause?: unknown } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.httpStatus = options.httpStatus;
    this.data = options.data ?? null;
  }
}

/** The service answered with an error envelope. */
export class ServiceError extends PromptServiceError {
  override readonly name: string = 'ServiceError';
  override readonly httpStatus: number;

  constructor(
    readonly status: string,
    message: string,
    options: ServiceErrorOptions,
  ) {
    super(message, options);
    this.httpStatus = options.httpStatus;
  }
}

interface ServiceErrorOptions {
  readonly httpStatus: number;
  readonly data?: unknown;
  /**
   * The fault of an answer without an envelope, which something between here and the service may
   * have given.
   */
  readonly cause?: unknown;
}

/** 400, 413, 422 or 431: the request is not valid. */
export class ValidationError extends ServiceError {
  override readonly name = 'ValidationError';
}

/** 401 or 403: the key is missing or not valid. */
export class UnauthorizedError extends ServiceError {
  override readonly name = 'UnauthorizedError';
}

/** 402: no paid plan, or too few credits. */
export class PaymentRequiredError extends ServiceError {
  override readonly name = 'PaymentRequiredError';
}

/** 404 or 410: the resource does not exist, or not for this caller. */
export class NotFoundError extends ServiceError {
  override readonly name = 'NotFoundError';
}

/** 429: too many requests, after all retries. */
export class RateLimitError extends ServiceError {
  override readonly name = 'RateLimitError';
  /** The wait that the service asked for, in milliseconds; undefined if it named none. */
  readonly retryAfterMs: number | undefined;

  constructor(
    status: string,
    message: string,
    options: ServiceErrorOptions & { retryAfterMs?: number | undefined },
  ) {
    super(status, message, options);
    this.retryAfterMs = options.retryAfterMs;
  }
}

/** 504 of a creation, with the id of a run that continues. */
export class GatewayTimeoutError extends ServiceError {
  override readonly name = 'GatewayTimeoutError';
  readonly runId: string;

  constructor(status: string, message: string, options: ServiceErrorOptions & { runId: string }) {
    super(status, message, options);
    this.runId = options.runId;
  }
}

/** No complete answer came: the connection failed, broke or went silent. */
export class NetworkError extends PromptServiceError {
  override readonly name = 'NetworkError';
  readonly status = 'NETWORK_ERROR';
  /** True only if it is certain that no part of the request reached a server. */
  readonly nothingSent: boolean;
  /**
   * False if another attempt can't succeed until something is set up differently; true by default.
   */
  readonly mayPass: boolean;

  constructor(
    message: string,
    options: { nothingSent: boolean; mayPass?: boolean; cause?: unknown },
  ) {
    super(message, options);
    this.nothingSent = options.nothingSent;
    this.mayPass = options.mayPass ?? true;
  }
}

/** An answer is not the service's: it has no envelope, redirects, or holds broken JSON. */
export class ProtocolError extends PromptServiceError {
  override readonly name = 'ProtocolError';
  readonly status = 'PROTOCOL_ERROR';
}

/** An argument that can never be a valid request; nothing was sent. */
export class InvalidRequestError extends PromptServiceError {
  override readonly name = 'InvalidRequestError';
  readonly status = 'USAGE_ERROR';
}

/** A run had not ended within the time limit of `waitForRun`. */
export class WaitTimeoutError extends PromptServiceError {
  override readonly name = 'WaitTimeoutError';
  readonly status = 'WAIT_TIMEOUT';

  constructor(
    message: string,
    readonly runId: string,
  ) {
    super(message, { data: { runId } });
  }
}
