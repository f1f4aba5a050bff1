import { causeOf, codeOf, isAboutCertificate, messageOf, ProxyFault } from '../net/fault.ts';
import { InvalidRequestError, NetworkError, PromptServiceError } from './errors.ts';

/** The error for a failed connection: names the origin, the cause and its code. */
export function networkFault(error: unknown, url: string, nothingSent: boolean): PromptServiceError {
  if (error instanceof PromptServiceError) return error;
  const { origin } = new URL(url);
  if (error instanceof ProxyFault) {
    const { proxy, reason, mayPass } = error;
    const what = `can't connect to ${origin} by the proxy ${proxy}: ${reason}`;
    return new NetworkError(what, { nothingSent: true, mayPass, cause: error.cause });
  }
  if (codeOf(error) === 'UND_ERR_INVALID_ARG') {
    return new InvalidRequestError(messageOf(error), { cause: error });
  }
  const what = nothingSent ? `can't connect to ${origin}` : `no whole answer from ${origin}`;
  return new NetworkError(`${what}: ${causeOf(error)}`, {
    nothingSent,
    mayPass: !isAboutCertificate(error),
    cause: error,
  });
}
