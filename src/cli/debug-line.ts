import type { RequestEvent } from '../client/client.ts';
import { oneLine } from './outputs/sanitise.ts';

/** What happened to a request, in one line. */
export function debugLine({ kind, method, url, attempt, status, ms, waitMs, message }: RequestEvent): string {
  const facts = {
    request: attempt === 1 ? '' : `try ${attempt}`,
    answer: `${status ?? ''} in ${ms ?? 0} ms`,
    failure: `failed after ${ms ?? 0} ms: ${message ?? ''}`,
    retry: `again in ${Math.round(waitMs ?? 0)} ms`,
  };
  return oneLine(`${method} ${url} ${facts[kind]}`.trim());
}
