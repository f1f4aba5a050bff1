import { baseUrlOf } from '../../client/base-url.ts';
import { InvalidRequestError } from '../../client/errors.ts';
import { configError } from '../errors.ts';

/**
 * A base URL as it is used: ends in `/v1`, and is https unless it leads to this machine.
 *
 * @param source what gave it, named in errors: a flag, a variable or a profile
 * @throws {CliError} CONFIG_ERROR
 */
export function checkedBaseUrl(given: string, source: string, insecureHttp: boolean): string {
  const baseUrl = wellFormed(given.trim(), source);
  const { protocol, hostname, host } = new URL(baseUrl);
  if (protocol === 'https:' || insecureHttp || isLoopback(hostname)) return baseUrl;
  throw configError(
    `${source}: plain http to ${host} would send the key in the clear`,
    'Use https, or --insecure-http if you must.',
  );
}

/** Whether a host name, as `URL` gives it, leads to this machine. */
export function isLoopback(hostname: string): boolean {
  return /^(localhost|.+\.localhost|127(\.\d+){3}|\[::1\])\.?$/.test(hostname);
}

function wellFormed(given: string, source: string): string {
  try {
    return baseUrlOf(given);
  } catch (error) {
    if (!(error instanceof InvalidRequestError)) throw error;
    throw configError(`${source}: ${error.message}`, 'Give it like https://prompts.example.com/v1.');
  }
}
