export type RefusalCode =
  | 'INVALID_REQUEST'
  | 'NOT_FOUND'
  | 'GONE'
  | 'NO_ACCESS'
  | 'NO_KEY'
  | 'NO_PLAN'
  | 'TOO_FEW_CREDITS'
  | 'NO_SPACE'
  | 'TOO_MANY'
  | 'TOO_LARGE'
  | 'UNAVAILABLE';

export interface RefusalDetails {
  /** Context for the caller; null if there is none. */
  readonly data?: unknown;
  /** Seconds until a retry may succeed. */
  readonly retryAfterSeconds?: number | undefined;
}

/** The service refuses a request, for a reason of the caller's. `http/` turns it into an answer. */
export class Refusal extends Error {
  override readonly name = 'Refusal';
  readonly data: unknown;
  readonly retryAfterSeconds: number | undefined;

  constructor(
    readonly code: RefusalCode,
    message: string,
    { data = null, retryAfterSeconds }: RefusalDetails = {},
  ) {
    super(message);
    this.data = data;
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

export function notFound(message: string): Refusal {
  return new Refusal('NOT_FOUND', message);
}

export function invalidRequest(message: string): Refusal {
  return new Refusal('INVALID_REQUEST', message);
}

export function tooMany(message: string, retryAfterSeconds: number): Refusal {
  return new Refusal('TOO_MANY', message, { retryAfterSeconds });
}
