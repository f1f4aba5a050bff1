import { isLoopbackHost, isPrivateHost } from '../wire/addresses.ts';
import { ProtocolError } from './errors.ts';

/** The service and the redirect that a media URL comes from. */
interface MediaUrlSource {
  /** The base URL of the service that named it. */
  readonly baseUrl: string;
  /** The URL that redirected to it; undefined for the first URL. */
  readonly redirectedFrom?: URL;
  /** Returns true if the transport itself serves the URL, such as files of the embedded service. */
  readonly owns?: ((url: URL) => boolean) | undefined;
  /** Masks the key in text to be shown. */
  readonly redact?: (text: string) => string;
}

/**
 * Returns a media URL that may be fetched: the transport's own, at the service's own origin, https,
 * or plain http between loopback addresses. A service at a public address can't send the client to
 * a private one, and a redirect never leaves https.
 *
 * @throws {ProtocolError} for any other URL, naming it
 */
export function checkMediaUrl(address: string, source: MediaUrlSource): URL {
  const { baseUrl, redirectedFrom, owns, redact = text => text } = source;
  if (!URL.canParse(address, redirectedFrom?.href)) {
    throw new ProtocolError(`${JSON.stringify(redact(address))} is not a URL of media`);
  }

  const url = new URL(address, redirectedFrom);
  if (redirectedFrom === undefined && owns?.(url)) return url;

  const serviceUrl = new URL(baseUrl);
  const fault = findMediaUrlFault(url, serviceUrl, redirectedFrom);
  if (fault !== undefined) {
    throw new ProtocolError(
      `${redact(`${url.protocol}//${url.host}${url.pathname}`)} is not fetched: ${fault}`,
    );
  }

  return url;
}

function findMediaUrlFault(
  url: URL,
  serviceUrl: URL,
  redirectedFrom: URL | undefined,
): string | undefined {
  if (url.username !== '' || url.password !== '') return 'it contains a user name or password';

  if (redirectedFrom?.protocol === 'https:' && url.protocol !== 'https:') {
    return 'it is redirected from https to plain http';
  }

  if (url.origin === serviceUrl.origin && url.origin !== 'null') return undefined;

  const isWithinLoopback = isLoopbackHost(url.hostname) && isLoopbackHost(serviceUrl.hostname);
  if (url.protocol === 'http:' && isWithinLoopback) return undefined;
  if (url.protocol !== 'https:') return 'media are fetched over https only';

  const entersPrivateNetwork = isPrivateHost(url.hostname) && !isPrivateHost(serviceUrl.hostname);
  return entersPrivateNetwork ? 'it leads into a private network' : undefined;
}
