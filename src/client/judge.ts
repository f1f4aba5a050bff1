import type { Envelope } from '../wire/index.ts';
import { envelopeOf, isSuccess } from './envelope.ts';
import { type PromptServiceError, ProtocolError, RateLimitError } from './errors.ts';
import type { Redaction } from './redaction.ts';
import type { RawAnswer } from './request.ts';
import { retryAfter } from './retry.ts';
import { serviceError } from './service-error.ts';
import { type AnswerHeaders, headerOf } from './transport.ts';

/** What a try came to: an answer, which may report an error, or none that is the service's. */
export type Outcome = ({ readonly answer: RawAnswer } | { readonly error: PromptServiceError }) & {
  /** What the answer asked to wait, in milliseconds. */
  readonly retryAfterMs?: number | undefined;
};

/** An answer that was read, and what it answers. */
export interface Received {
  readonly method: string;
  readonly url: string;
  readonly httpStatus: number;
  readonly headers: AnswerHeaders;
  readonly text: string;
  /** The local time, in milliseconds since the Unix epoch. */
  readonly receivedAt: number;
}

/** Says what an answer means (interface §7). */
export function judged(received: Received, redaction: Redaction): Outcome {
  const { method, httpStatus, headers, text } = received;
  const date = dateOf(headers);
  const retryAfterMs = retryAfter(headerOf(headers, 'retry-after'), date ?? received.receivedAt);
  try {
    const envelope = envelopeIn(received, redaction);
    const circumstances = { method, httpStatus, retryAfterMs };
    const error = isSuccess(envelope) ? undefined : serviceError(envelope, circumstances);
    return { answer: { httpStatus, headers, text, envelope, date, error }, retryAfterMs };
  } catch (error) {
    if (!(error instanceof ProtocolError)) throw error;
    return { error: httpStatus === 429 ? refusedOnTheWay(error, retryAfterMs) : error, retryAfterMs };
  }
}

export function isRedirect(httpStatus: number): boolean {
  return httpStatus >= 300 && httpStatus < 400;
}

/** The server's own time, in milliseconds since the Unix epoch. */
export function dateOf(headers: AnswerHeaders): number | undefined {
  const date = Date.parse(headerOf(headers, 'date') ?? '');
  return Number.isNaN(date) ? undefined : date;
}

// Only what succeeded may hold the key: it may be a result. Errors are shown and logged.
function envelopeIn(received: Received, redaction: Redaction): Envelope<unknown> {
  const { method, url, httpStatus, headers, text } = received;
  if (isRedirect(httpStatus)) throw redirected(received);
  const redact = (shown: string): string => redaction.text(shown);
  const envelope = envelopeOf({ httpStatus, headers, text, request: `${method} ${url}`, redact });
  return isSuccess(envelope) ? envelope : redaction.value(envelope);
}

function redirected({ method, url, httpStatus, headers }: Received): ProtocolError {
  const location = headerOf(headers, 'location');
  const target =
    location !== undefined && URL.canParse(location, url) ? new URL(location, url).href : location;
  return new ProtocolError(
    `${method} ${url} was redirected to ${target ?? 'nowhere'} (HTTP ${httpStatus}); the service's redirects are not followed`,
    { httpStatus },
  );
}

// An intermediary's 429 has no envelope, but means the same.
function refusedOnTheWay(error: ProtocolError, retryAfterMs: number | undefined): RateLimitError {
  return new RateLimitError('TOO_MANY_REQUESTS_ERROR', error.message, {
    httpStatus: 429,
    ...(retryAfterMs !== undefined && { retryAfterMs }),
  });
}
