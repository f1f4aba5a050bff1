import { decoded } from './decode.ts';
import {
  NetworkError,
  NotFoundError,
  type PromptServiceError,
  ProtocolError,
  RateLimitError,
} from './errors.ts';
import type { HttpSession } from './http-session.ts';
import { isRedirect } from './parse-response.ts';
import type { Pace } from './request.ts';
import { MAX_ATTEMPTS, retryAfter, retryDelay } from './retry.ts';
import { headerOf, leave, readThrough, type TransportResponse } from './transport.ts';
import { checkedMediaUrl } from './urls.ts';

const MAX_REDIRECTS = 5;
const TIMEOUT_MS = 30_000;
/** Largest media file, after decompression. */
const MAX_MEDIA_BYTES = 8 * 1024 ** 3;

/** Media as it comes in. */
export interface Download {
  readonly status: number;
  /** As the server says; undefined where it does not. */
  readonly contentType: string | undefined;
  /** In bytes, where it is known beforehand. */
  readonly length: number | undefined;
  /** Must be read to its end or left with `return`. */
  readonly body: AsyncIterable<Uint8Array>;
}

export interface DownloadOptions {
  /** Aborts at once, with the signal's reason; the reading of the body too. */
  readonly signal?: AbortSignal;
  /** Asked before each try; by default the client's own, if it has one. */
  readonly pace?: Pace;
}

/** What a download needs of its client. */
export interface DownloadSource {
  readonly baseUrl: string;
  readonly session: HttpSession;
  readonly sleep: (ms: number, signal?: AbortSignal) => Promise<void>;
  readonly now: () => number;
  readonly random: () => number;
  readonly userAgent: string;
}

/** See `PromptService.download`. */
export async function download(
  url: string,
  source: DownloadSource,
  options: DownloadOptions,
): Promise<Download> {
  const { pace, signal } = options;
  for (let attempt = 1; ; attempt++) {
    await pace?.turn(signal);
    try {
      const opened = await open(url, source, signal);
      pace?.answered({ limited: false, retryAfterMs: undefined });
      return opened;
    } catch (error) {
      const limited = error instanceof RateLimitError;
      const retryAfterMs = limited ? error.retryAfterMs : undefined;
      pace?.answered({ limited, retryAfterMs });
      const failed = { method: 'GET', attempt, maxAttempts: MAX_ATTEMPTS, error, retryAfterMs };
      const waitMs = retryDelay(failed, source.random);
      if (waitMs === undefined || source.session.isClosed) throw error;
      await source.sleep(waitMs, source.session.untilClosed(signal));
    }
  }
}

async function open(url: string, source: DownloadSource, signal: AbortSignal | undefined): Promise<Download> {
  const { response, target } = await follow(url, source, signal);
  const shown = source.session.redaction.text(shownUrl(target));
  if (response.status !== 200) {
    await leave(response);
    throw refusal(response, shown, source.now());
  }
  return downloadOf({ ...response, headers: source.session.redaction.value(response.headers) }, shown);
}

async function follow(
  url: string,
  { baseUrl, session, userAgent }: DownloadSource,
  signal: AbortSignal | undefined,
): Promise<{ response: TransportResponse; target: URL }> {
  const transport = await session.transport();
  const from = { baseUrl, owns: transport.owns, redact: (text: string) => session.redaction.text(text) };
  let target = checkedMediaUrl(url, from);
  for (let redirects = 0; ; redirects++) {
    const response = await transport.request({
      method: 'GET',
      url: target.href,
      headers: { 'accept-encoding': 'identity', 'user-agent': userAgent },
      repeatable: true,
      headersTimeoutMs: TIMEOUT_MS,
      bodyTimeoutMs: TIMEOUT_MS,
      ...(signal && { signal }),
    });
    const location = headerOf(response.headers, 'location');
    if (!isRedirect(response.status) || location === undefined) return { response, target };
    await leave(response);
    if (redirects === MAX_REDIRECTS) {
      throw new ProtocolError(`${from.redact(shownUrl(target))} is redirected too often`);
    }
    target = checkedMediaUrl(location, { ...from, from: target });
  }
}

function downloadOf(response: TransportResponse, shown: string): Download {
  const { status, headers, body } = response;
  const encoding = headerOf(headers, 'content-encoding');
  const encoded = encoding !== undefined && encoding !== 'identity';
  const length = encoded ? undefined : lengthOf(headerOf(headers, 'content-length'));
  const pieces = decoded(body, encoding, MAX_MEDIA_BYTES);
  return {
    status,
    contentType: headerOf(headers, 'content-type'),
    length,
    body: readThrough(response, length === undefined ? pieces : whole(pieces, length, shown)),
  };
}

async function* whole(
  pieces: AsyncIterable<Uint8Array>,
  length: number,
  shown: string,
): AsyncGenerator<Uint8Array> {
  let bytes = 0;
  for await (const piece of pieces) {
    bytes += piece.byteLength;
    yield piece;
  }
  if (bytes === length) return;
  throw new NetworkError(`${shown} was cut short: ${bytes} of ${length} bytes came`, { nothingSent: false });
}

function refusal(
  { status: httpStatus, headers }: TransportResponse,
  shown: string,
  now: number,
): PromptServiceError {
  if ([403, 404, 410].includes(httpStatus)) {
    const message = `${shown} is not there any more (HTTP ${httpStatus}): the URLs of generated media live 24 hours`;
    return new NotFoundError('NOT_FOUND_ERROR', message, { httpStatus });
  }
  const message = `${shown} was answered with HTTP ${httpStatus}`;
  if (httpStatus !== 429) return new ProtocolError(message, { httpStatus });
  const retryAfterMs = retryAfter(headerOf(headers, 'retry-after'), now);
  return new RateLimitError('TOO_MANY_REQUESTS_ERROR', message, { httpStatus, retryAfterMs });
}

function lengthOf(header: string | undefined): number | undefined {
  return header !== undefined && /^\d+$/.test(header) ? Number(header) : undefined;
}

// The query of a media URL is its signature: who has it, has the picture.
function shownUrl({ protocol, host, pathname }: URL): string {
  return `${protocol}//${host}${pathname}`;
}
