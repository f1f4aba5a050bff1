import { isLoopbackHost, isPrivateHost } from '../wire/addresses.ts';
import { ProtocolError } from './errors.ts';

/** Where a media URL came from. */
export interface MediaUrlSource {
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
 * A media URL that may be fetched: one that the transport owns; of the service's own origin; https; or plain http between loopback addresses. A
 * service on a public address can't send the client to a private one, and a redirect never leaves https.
 *
 * @throws {ProtocolError} for any other, naming it
 */
export function checkedMediaUrl(given: string, source: MediaUrlSource): URL {
  const { baseUrl, from, owns, redact = text => text } = source;
  if (!URL.canParse(given, from?.href)) {
    throw new ProtocolError(`${JSON.stringify(redact(given))} is not a URL of media`);
  }
  const url = new URL(given, from);
  if (from === undefined && owns?.(url)) return url;
  const service = new URL(baseUrl);
  const fault = faultOf(url, service, from);
  if (fault !== undefined) {
    throw new ProtocolError(
      `${redact(`${url.protocol}//${url.host}${url.pathname}`)} is not fetched: ${fault}`,
    );
  }
  return url;
}

function faultOf(url: URL, service: URL, from: URL | undefined): string | undefined {
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
