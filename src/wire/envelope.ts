/** Error codes and the HTTP status each comes with. */
export const ERROR_HTTP_STATUS = {
  BAD_REQUEST_ERROR: 400,
  UNAUTHORIZED_ERROR: 401,
  PAYMENT_REQUIRED_ERROR: 402,
  FORBIDDEN_ERROR: 403,
  NOT_FOUND_ERROR: 404,
  GONE_ERROR: 410,
  PAYLOAD_TOO_LARGE_ERROR: 413,
  RANGE_NOT_SATISFIABLE_ERROR: 416,
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

/** The `status` of every success envelope. */
export const SUCCESS_STATUS = 'SUCCESS';

/** The envelope of a success. */
export interface SuccessEnvelope<T> {
  status: typeof SUCCESS_STATUS;
  data: T;
}

/** The envelope of an error. */
export interface ErrorEnvelope {
  status: ErrorStatus | (string & {});
  message: string;
  /** Optional context; null if there is none. */
  data: unknown;
}

/** Every answer of the service. */
export type Envelope<T> = SuccessEnvelope<T> | ErrorEnvelope;

/** Request header with the hash of the resources that a command-line client has cached. */
export const CLI_AGENT_HEADER = 'cli-agent';

/** Response header whose presence asks the client to refresh its resources. */
export const ACTION_REQUIRE_HEADER = 'action-require';

/** Request header that identifies a creation, so that sending it again returns the same run. */
export const IDEMPOTENCY_KEY_HEADER = 'idempotency-key';

/** Response header that announces that the service keeps idempotency keys for 24 hours. */
export const IDEMPOTENCY_HEADER = 'idempotency';

/** The one value of `IDEMPOTENCY_HEADER`. */
export const IDEMPOTENCY_SUPPORTED = 'supported';

/** Response header that says how fast a client may send requests (IETF draft). */
export const RATE_LIMIT_POLICY_HEADER = 'ratelimit-policy';
