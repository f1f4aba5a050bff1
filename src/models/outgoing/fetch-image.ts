import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import { explainConnectionFault } from '../../net/connection-fault.ts';
import { rejectWhenAborted } from '../../utils/abort-signals.ts';
import type { Env } from '../../utils/env.ts';
import { isPublicAddress } from '../../wire/addresses.ts';
import { MAX_IMAGE_BYTES } from '../../wire/index.ts';
import { type HttpAnswer, type HttpRequest, openHttp } from './open-http.ts';
import { findOutgoingProxy } from './proxy.ts';
import { BodyTooLongError, readBody } from './read-body.ts';

/** Finds every address of a host. */
export type ResolveHost = (host: string) => Promise<readonly string[]>;

/** The rules for images from private addresses. */
export interface PrivateRules {
  /**
   * True to allow private addresses and, behind a proxy, names that this machine can't resolve;
   * default false.
   */
  readonly allowPrivate?: boolean | undefined;
  /** Returns a suffix for the error about a name that this machine can't resolve; default none. */
  readonly onUnresolved?: ((host: string) => string) | undefined;
}

export interface FetchImageOptions extends PrivateRules {
  readonly signal: AbortSignal;
  /** The environment with the proxy settings; default empty. */
  readonly env?: Env;
  readonly resolve?: ResolveHost;
  readonly open?: ((request: HttpRequest) => Promise<HttpAnswer>) | undefined;
  /** Called with the length of each piece as it arrives; may throw to stop. */
  readonly onBytes?: (count: number) => void;
  /** Maximum time including redirects, in milliseconds; default 30 s. */
  readonly timeoutMs?: number;
}

const MAX_IMAGE_REDIRECTS = 5;
const IMAGE_TIMEOUT_MS = 30_000;
const IMAGE_REQUEST_HEADERS = {
  accept: 'image/*',
  'accept-encoding': 'identity',
  'user-agent': 'promptrun',
};

/**
 * Fetches an image, only over https and, unless `allowPrivate` is set, from public addresses, also
 * after redirects.
 *
 * @throws {Error} if it can't
 */
export async function fetchImage(url: string, options: FetchImageOptions): Promise<Buffer> {
  const timeout = AbortSignal.timeout(options.timeoutMs ?? IMAGE_TIMEOUT_MS);
  const signal = AbortSignal.any([options.signal, timeout]);
  try {
    return await followImageRedirects(url, { ...options, signal });
  } catch (error) {
    options.signal.throwIfAborted();
    if (timeout.aborted) throw new Error('the image did not arrive in time', { cause: error });
    throw error;
  }
}

async function followImageRedirects(startUrl: string, options: FetchImageOptions): Promise<Buffer> {
  let url = startUrl;
  for (let redirectCount = 0; redirectCount <= MAX_IMAGE_REDIRECTS; redirectCount += 1) {
    const answer = await openImageUrl(url, options);
    const location = findRedirectLocation(answer);
    if (location === undefined) return readImage(answer, options.onBytes);
    answer.discard();
    url = resolveRedirect(location, url);
  }
  throw new Error(`the URL redirects more than ${MAX_IMAGE_REDIRECTS} times`);
}

async function openImageUrl(text: string, options: FetchImageOptions): Promise<HttpAnswer> {
  const { signal, env = {}, open = openHttp } = options;
  const url = parseImageUrl(text);
  const proxy = findOutgoingProxy(url, env);
  const addresses =
    proxy && options.allowPrivate ? undefined : await resolveAllowedAddresses(url, options, proxy);
  signal.throwIfAborted();

  try {
    return await open({ url, signal, headers: IMAGE_REQUEST_HEADERS, proxy, addresses });
  } catch (error) {
    throw new Error(`${url.host} can't be reached: ${explainConnectionFault(error)}`, {
      cause: error,
    });
  }
}

function parseImageUrl(text: string): URL {
  if (!URL.canParse(text)) throw new Error('this is not a URL');
  const url = new URL(text);
  if (url.protocol !== 'https:') throw new Error('an image URL must begin with https://');
  if (url.username !== '' || url.password !== '') {
    throw new Error("an image URL can't contain a user name or password");
  }
  return url;
}

/**
 * Returns the addresses of a host. All must be public: a name with a private one too is not
 * trusted.
 */
async function resolveAllowedAddresses(
  url: URL,
  options: FetchImageOptions,
  proxy: URL | undefined,
): Promise<readonly string[]> {
  const host = url.hostname.replace(/^\[|\]$/g, '');
  const addresses = isIP(host) ? [host] : await resolveAddresses(host, options, proxy);
  const isAllowed = options.allowPrivate === true || addresses.every(isPublicAddress);
  if (addresses.length > 0 && isAllowed) return addresses;
  throw new Error(
    `${url.hostname} is not a public address: images are fetched from the public internet only`,
  );
}

async function resolveAddresses(
  host: string,
  { signal, resolve = resolveHost, onUnresolved }: FetchImageOptions,
  proxy: URL | undefined,
): Promise<readonly string[]> {
  try {
    return await rejectWhenAborted(resolve(host), signal);
  } catch (error) {
    signal.throwIfAborted();
    const detail = proxy ? `, so it can't be known to be public${onUnresolved?.(host) ?? ''}` : '';
    throw new Error(`the host ${host} can't be found${detail}`, { cause: error });
  }
}

async function resolveHost(host: string): Promise<string[]> {
  return (await lookup(host, { all: true })).map(({ address }) => address);
}

const REDIRECT_STATUSES = new Set([301, 302, 303, 307, 308]);

function findRedirectLocation({ status, headers }: HttpAnswer): string | undefined {
  return REDIRECT_STATUSES.has(status) ? headers.location : undefined;
}

function resolveRedirect(location: string, from: string): string {
  if (!URL.canParse(location, from)) {
    throw new Error('the URL redirects to something that is not a URL');
  }
  return new URL(location, from).href;
}

async function readImage(answer: HttpAnswer, onBytes?: (count: number) => void): Promise<Buffer> {
  if (answer.status !== 200) {
    answer.discard();
    throw new Error(`the URL answers ${answer.status}`);
  }
  try {
    return await readBody(answer, MAX_IMAGE_BYTES, onBytes);
  } catch (error) {
    if (error instanceof BodyTooLongError) {
      throw new Error(`the image is larger than ${MAX_IMAGE_BYTES / 1024 ** 2} MiB`, {
        cause: error,
      });
    }
    throw error;
  }
}
