import { PATH_PREFIX } from '../wire/index.ts';
import { InvalidRequestError } from './errors.ts';

/**
 * A base URL in the form requests are built on: `/v1` at the end, no slash after it.
 *
 * @throws {InvalidRequestError} for anything that is not an http or https URL, or that holds a user name, a query or a
 * fragment
 */
export function baseUrlOf(given: string): string {
  if (!URL.canParse(given)) throw new InvalidRequestError(`${JSON.stringify(given)} is not a URL`);
  const url = new URL(given);
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
