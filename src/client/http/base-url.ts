import { isLoopbackHost, withoutTrailingSlashes } from '../../wire/addresses.ts';
import { PATH_PREFIX } from '../../wire/index.ts';
import { InvalidRequestError } from '../errors.ts';
import type { ClientOptions } from '../request-options.ts';

/**
 * Returns a base URL in the form that requests are built on: with `/v1` at the end and no slash
 * after it.
 *
 * @throws {InvalidRequestError} for anything but an http or https URL, and for a URL with a user
 * name, query or fragment
 */
export function normalizeBaseUrl(text: string): string {
  if (!URL.canParse(text)) throw new InvalidRequestError(`${JSON.stringify(text)} is not a URL`);

  const url = new URL(text);
  if (url.protocol !== 'https:' && url.protocol !== 'http:') {
    throw new InvalidRequestError(
      `the base URL must begin with https:// or http://, not ${url.protocol}`,
    );
  }

  if (url.username !== '' || url.password !== '') {
    throw new InvalidRequestError('the base URL must not contain a user name or password');
  }

  if (url.search !== '' || url.hash !== '') {
    throw new InvalidRequestError('the base URL must end with its path');
  }

  const base = withoutTrailingSlashes(url.origin + url.pathname);
  return base.endsWith(PATH_PREFIX) ? base : base + PATH_PREFIX;
}

/**
 * Returns the base URL of a client.
 *
 * @throws {InvalidRequestError} if it can't be used, or would send the key in the clear
 */
export function checkBaseUrl({
  baseUrl,
  insecureHttp = false,
}: Pick<ClientOptions, 'baseUrl' | 'insecureHttp'>): string {
  const base = normalizeBaseUrl(baseUrl);
  const { protocol, hostname } = new URL(base);
  if (protocol === 'https:' || insecureHttp || isLoopbackHost(hostname)) return base;
  throw new InvalidRequestError(
    `${base} would send the key in the clear; use https or the option insecureHttp`,
  );
}

/** Returns true if a path that a caller wrote stays below the base URL that it is appended to. */
export function staysBelowBase(pathAndQuery: string): boolean {
  const [pathname = ''] = pathAndQuery.split(/[?#]/, 1);
  if (!pathname.startsWith('/') || pathname.includes('\\')) return false;
  return pathname.split('/').every(segment => !isDots(segment));
}

// An intermediary may decode more than once, so `%252e` may become a dot.
function isDots(segment: string): boolean {
  const dots = segment.replace(/%(?:25)*2e/gi, '.');
  return dots === '.' || dots === '..';
}
