import { parseRetryAfter } from '../net/retry-policy.ts';
import { NetworkError, PromptServiceError, ProtocolError, RateLimitError } from './errors.ts';
import { decodeAnswerBody } from './http/decode-body.ts';
import type { HttpSession } from './http/http-session.ts';
import { createServiceError, findHeader, isRedirect } from './http/parse-response.ts';
import { checkMediaUrl } from './media-url.ts';
import type { Pace } from './request-options.ts';
import { discardBody, readThrough, type TransportResponse } from './transport.ts';

const MAX_DOWNLOAD_REDIRECTS = 5;
const DOWNLOAD_TIMEOUT_MS = 30_000;

/** Statuses of URLs that have expired. */
const EXPIRED_STATUSES = [403, 404, 410];

/** Largest media file, after decompression. */
const MAX_DOWNLOAD_BYTES = 8 * 1024 ** 3;

/** Media that is being downloaded. */
export interface Download {
  readonly status: number;
  /** The server's `Content-Type`; undefined if it sent none. */
  readonly contentType: string | undefined;
  /** The length in bytes; undefined if it is not known beforehand. */
  readonly length: number | undefined;
  /** The caller must read it to the end or call `return`. */
  readonly body: AsyncIterable<Uint8Array>;
}

export interface DownloadOptions {
  /** Aborts the request, and the reading of its body, with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
  /** Awaited before each attempt; default: the client's own pace, if any. */
  readonly pace?: Pace | undefined;
}

/** See `PromptService.download`. */
export async function download(
  url: string,
  session: HttpSession,
  { signal, pace }: DownloadOptions,
): Promise<Download> {
  const { openedDownload, error } = await session.repeat(
    { method: 'GET', pace, signal },
    async () => {
      try {
        return { openedDownload: await openDownload(url, session, signal), error: undefined };
      } catch (fault) {
        if (signal?.aborted || !(fault instanceof PromptServiceError)) throw fault;
        const retryAfterMs = fault instanceof RateLimitError ? fault.retryAfterMs : undefined;
        return { openedDownload: undefined, error: fault, retryAfterMs };
      }
    },
  );
  if (openedDownload === undefined) throw error;
  return openedDownload;
}

async function openDownload(
  url: string,
  session: HttpSession,
  signal: AbortSignal | undefined,
): Promise<Download> {
  const { redaction } = session;
  const { response, target } = await followMediaRedirects(url, session, signal);

  const redactedUrl = redaction.redactText(withoutQuery(target));
  if (response.status === 200) {
    const headers = redaction.redactValue(response.headers);
    return toDownload({ ...response, headers }, redactedUrl);
  }

  await discardBody(response);
  throw downloadError(response, redactedUrl, session.now());
}

async function followMediaRedirects(
  url: string,
  session: HttpSession,
  signal: AbortSignal | undefined,
): Promise<{ response: TransportResponse; target: URL }> {
  const { baseUrl, redaction, userAgent } = session;
  const transport = await session.getTransport();
  const urlContext = {
    baseUrl,
    owns: transport.owns,
    redact: (text: string) => redaction.redactText(text),
  };

  let target = checkMediaUrl(url, urlContext);
  for (let redirects = 0; ; redirects++) {
    const response = await transport.request({
      method: 'GET',
      url: target.href,
      headers: { 'accept-encoding': 'identity', 'user-agent': userAgent },
      repeatable: true,
      headersTimeoutMs: DOWNLOAD_TIMEOUT_MS,
      bodyTimeoutMs: DOWNLOAD_TIMEOUT_MS,
      signal,
    });
    const location = findHeader(response.headers, 'location');
    if (!isRedirect(response.status) || location === undefined) return { response, target };

    await discardBody(response);

    if (redirects === MAX_DOWNLOAD_REDIRECTS) {
      const shownUrl = redaction.redactText(withoutQuery(target));
      throw new ProtocolError(`${shownUrl} is redirected too many times`);
    }

    target = checkMediaUrl(location, { ...urlContext, redirectedFrom: target });
  }
}

function toDownload(response: TransportResponse, redactedUrl: string): Download {
  const { status, headers, body } = response;
  const encoding = findHeader(headers, 'content-encoding');
  const isEncoded = encoding !== undefined && encoding !== 'identity';
  const length = isEncoded ? undefined : parseLength(findHeader(headers, 'content-length'));
  const pieces = decodeAnswerBody(body, encoding, MAX_DOWNLOAD_BYTES);
  const checkedPieces = length === undefined ? pieces : requireLength(pieces, length, redactedUrl);

  return {
    status,
    contentType: findHeader(headers, 'content-type'),
    length,
    body: readThrough(response, checkedPieces),
  };
}

async function* requireLength(
  pieces: AsyncIterable<Uint8Array>,
  expectedBytes: number,
  redactedUrl: string,
): AsyncGenerator<Uint8Array> {
  let bytes = 0;
  for await (const piece of pieces) {
    bytes += piece.byteLength;
    yield piece;
  }

  if (bytes === expectedBytes) return;
  throw new NetworkError(
    `${redactedUrl} was cut short: ${bytes} of ${expectedBytes} bytes arrived`,
    {
      nothingSent: false,
    },
  );
}

function downloadError(
  { status: httpStatus, headers }: TransportResponse,
  redactedUrl: string,
  now: number,
): PromptServiceError {
  if (EXPIRED_STATUSES.includes(httpStatus)) {
    const message = `${redactedUrl} is no longer available (HTTP ${httpStatus}): URLs of generated media live 24 hours`;
    return createServiceError('NOT_FOUND_ERROR', message, { httpStatus });
  }

  const message = `${redactedUrl} was answered with HTTP ${httpStatus}`;
  if (httpStatus !== 429) return new ProtocolError(message, { httpStatus });

  const retryAfterMs = parseRetryAfter(findHeader(headers, 'retry-after'), now);
  return createServiceError('TOO_MANY_REQUESTS_ERROR', message, { httpStatus, retryAfterMs });
}

function parseLength(header: string | undefined): number | undefined {
  return header !== undefined && /^\d+$/.test(header) ? Number(header) : undefined;
}

// Leaves the query out: it is the signature, and whoever has it can fetch the image.
function withoutQuery({ protocol, host, pathname }: URL): string {
  return `${protocol}//${host}${pathname}`;
}
