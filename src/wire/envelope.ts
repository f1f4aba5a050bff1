/** Error codes and the HTTP status each comes with (interface §7; the rest from service-facts). */
export const ERROR_HTTP_STATUS = {
  BAD_REQUEST_ERROR: 400,
  UNAUTHORIZED_ERROR: 401,
  PAYMENT_REQUIRED_ERROR: 402,
  NOT_FOUND_ERROR: 404,
  GONE_ERROR: 410,
  PAYLOAD_TOO_LARGE_ERROR: 413,
  MISDIRECTED_REQUEST_ERROR: 421,
  VALIDATION_ERROR: 422,
  TOO_MANY_REQUESTS_ERROR: 429,
  HEADERS_TOO_LARGE_ERROR: 431,
  SERVER_ERROR: 500,
  SERVICE_UNAVAILABLE_ERROR: 503,
  GATEWAY_TIMEOUT_ERROR: 504,
  INSUFFICIENT_STORAGE_ERROR: 507,
} as const satisfies Record<string, number>;
export type ErrorStatus = keyof typeof ERROR_HTTP_STATUS;

/** The `status` of every success (interface §7). */
export const SUCCESS_STATUS = 'SUCCESS';

/** A success (interface §7). */
export interface SuccessEnvelope<T> {
  status: typeof SUCCESS_STATUS;
  data: T;
}

/** A failure (interface §7). */
export interface ErrorEnvelope {
  status: ErrorStatus | (string & {});
  message: string;
  /** Optional context, null when none. */
  data: unknown;
}

/** Every answer of the service (interface §7). */
export type Envelope<T> = SuccessEnvelope<T> | ErrorEnvelope;
