import { isLoopbackHost, isPrivateHost } from '../wire/addresses.ts';
import { PATH_PREFIX } from '../wire/index.ts';
import { InvalidRequestError, ProtocolError } from './errors.ts';

/**
 * A base URL in the form requests are built on: `/v1` at the end, no slash after it.
 *
 * @throws {InvalidRequestError} for anything that is not an http or https URL, or that holds a user name, a query or a
 * fragment
 */
export function baseUrlOf(text: string): string {
  if (!URL.canParse(text)) throw new InvalidRequestError(`${JSON.stringify(text)} is not a URL`);
  const url = new URL(text);
  if (url.protocol !== 'https:' && url.protocol !== 'http:') {
    throw new InvalidRequestError(`the base URL must begin with https:// or http://, not ${url.protocol}`);
  }
  if (url.username !== '' || url.password !== '') {
    throw new InvalidRequestError('the base URL must not hold a user name or password');
  }
  if (url.search !== '' || url.hash !== '') {
    throw new InvalidRequestError('the base URL must end with its path');
  }
  let base = url.origin + url.pathname;
  while (base.endsWith('/')) base = base.slice(0, -1);
  return base.endsWith(PATH_PREFIX) ? base : base + PATH_PREFIX;
}

/** Where a media URL came from. */
interface MediaUrlSource {
  /** The service that named the URL. */
  readonly baseUrl: string;
  /** The URL that redirected to it; undefined for the first. */
  readonly from?: URL;
  /** Whether the transport answers a URL by itself, such as the embedded service's files. */
  readonly owns?: ((url: URL) => boolean) | undefined;
  /** Makes text fit to be shown. */
  readonly redact?: (text: string) => string;
}

/**
 * A media URL that may be fetched: one that the transport owns; of the service's own origin; https; or plain http
 * between loopback addresses. A service on a public address can't send the client to a private one, and a redirect
 * never leaves https.
 *
 * @throws {ProtocolError} for any other, naming it
 */
export function checkedMediaUrl(address: string, source: MediaUrlSource): URL {
  const { baseUrl, from, owns, redact = text => text } = source;
  if (!URL.canParse(address, from?.href)) {
    throw new ProtocolError(`${JSON.stringify(redact(address))} is not a URL of media`);
  }
  const url = new URL(address, from);
  if (from === undefined && owns?.(url)) return url;
  const service = new URL(baseUrl);
  const fault = mediaUrlFault(url, service, from);
  if (fault !== undefined) {
    throw new ProtocolError(
      `${redact(`${url.protocol}//${url.host}${url.pathname}`)} is not fetched: ${fault}`,
    );
  }
  return url;
}

function mediaUrlFault(url: URL, service: URL, from: URL | undefined): string | undefined {
  if (url.username !== '' || url.password !== '') return 'it holds a user name or password';
  if (from?.protocol === 'https:' && url.protocol !== 'https:') {
    return 'it is redirected from https to plain http';
  }
  if (url.origin === service.origin && url.origin !== 'null') return undefined;
  const hosts = [url.hostname, service.hostname];
  if (url.protocol === 'http:' && hosts.every(isLoopbackHost)) return undefined;
  if (url.protocol !== 'https:') return 'media come over https only';
  const [isPrivate, serviceIsPrivate] = hosts.map(isPrivateHost);
  return isPrivate && !serviceIsPrivate ? 'it leads into a private network' : undefined;
}
