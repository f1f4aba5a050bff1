import { decoded } from './decode.ts';
import {
  NetworkError,
  NotFoundError,
  type PromptServiceError,
  ProtocolError,
  RateLimitError,
} from './errors.ts';
import { checkedMediaUrl } from './media-url.ts';
import { MAX_ATTEMPTS, retryAfter, retryDelay } from './retry.ts';
import { headerOf, leave, type Transport, type TransportResponse } from './transport.ts';

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
  readonly baseUrl: string;
  readonly transport: Transport;
  readonly sleep: (ms: number, signal?: AbortSignal) => Promise<void>;
  readonly now: () => number;
  readonly random: () => number;
  readonly userAgent: string;
  readonly signal?: AbortSignal;
}

/** See `PromptService.download`. */
export async function download(url: string, options: DownloadOptions): Promise<Download> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await opened(url, options);
    } catch (error) {
      const retryAfterMs = error instanceof RateLimitError ? error.retryAfterMs : undefined;
      const failed = { method: 'GET', attempt, maxAttempts: MAX_ATTEMPTS, error, retryAfterMs };
      const waitMs = retryDelay(failed, options.random);
      if (waitMs === undefined) throw error;
      await options.sleep(waitMs, options.signal);
    }
  }
}

async function opened(url: string, options: DownloadOptions): Promise<Download> {
  const { response, shown } = await followed(url, options);
  if (response.status !== 200) {
    await leave(response);
    throw refusal(response, shown, options.now());
  }
  return downloadOf(response, shown);
}

async function followed(
  url: string,
  options: DownloadOptions,
): Promise<{ response: TransportResponse; shown: string }> {
  let target = checkedMediaUrl(url, { baseUrl: options.baseUrl, owns: options.transport.owns });
  for (let redirects = 0; ; redirects++) {
    const response = await options.transport.request({
      method: 'GET',
      url: target.href,
      headers: { 'accept-encoding': 'identity', 'user-agent': options.userAgent },
      headersTimeoutMs: TIMEOUT_MS,
      bodyTimeoutMs: TIMEOUT_MS,
      ...(options.signal && { signal: options.signal }),
    });
    const location = headerOf(response.headers, 'location');
    if (response.status < 300 || response.status >= 400 || location === undefined) {
      return { response, shown: shownUrl(target) };
    }
    await leave(response);
    if (redirects === MAX_REDIRECTS) throw new ProtocolError(`${shownUrl(target)} is redirected too often`);
    target = checkedMediaUrl(location, { baseUrl: options.baseUrl, from: target });
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
    body: leavable(length === undefined ? pieces : whole(pieces, length, shown), response),
  };
}

// A generator that was never started would not tell its source that it is left.
function leavable(
  pieces: AsyncGenerator<Uint8Array>,
  response: TransportResponse,
): AsyncIterable<Uint8Array> {
  const end = async (): Promise<IteratorResult<Uint8Array>> => {
    await leave(response);
    await pieces.return(undefined);
    return { done: true, value: undefined };
  };
  return { [Symbol.asyncIterator]: () => ({ next: () => pieces.next(), return: end }) };
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
  return new RateLimitError('TOO_MANY_REQUESTS_ERROR', message, {
    httpStatus,
    ...(retryAfterMs !== undefined && { retryAfterMs }),
  });
}

function lengthOf(header: string | undefined): number | undefined {
  return header !== undefined && /^\d+$/.test(header) ? Number(header) : undefined;
}

// The query of a media URL is its signature: who has it, has the picture.
function shownUrl({ protocol, host, pathname }: URL): string {
  return `${protocol}//${host}${pathname}`;
}
