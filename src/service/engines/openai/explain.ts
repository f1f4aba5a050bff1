import type { Provider } from '../../models/entry.ts';

const MAX_LENGTH = 500;

/** A provider's fault in a line that can be shown: what it answered, without keys. */
export function explain(error: unknown, provider: Provider, key: string | undefined): string {
  const status = statusOf(error);
  const said = withoutKeys(messageOf(error), key).replace(/\s+/g, ' ').trim().slice(0, MAX_LENGTH);
  if (status !== undefined)
    return `${provider.name} answered ${said.startsWith(String(status)) ? said : `${status} ${said}`}`;
  return `${provider.name} can’t be reached at ${originOf(provider)}: ${said}`;
}

function statusOf(error: unknown): number | undefined {
  return error instanceof Error && 'status' in error && typeof error.status === 'number'
    ? error.status
    : undefined;
}

/** The reason lies at the end of the chain of causes: a refused connection, a name nobody knows. */
function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return statusOf(error) === undefined && error.cause !== undefined
    ? messageOf(error.cause)
    : error.message || error.name;
}

/** Providers repeat a wrong key, in part, in what they answer. */
function withoutKeys(text: string, key: string | undefined): string {
  const without = key === undefined ? text : text.replaceAll(key, '***');
  return without.replace(/\b(sk|key|pk)-[\w*.-]{6,}/gi, '***').replace(/Bearer\s+\S+/gi, 'Bearer ***');
}

function originOf({ baseUrl }: Provider): string {
  return baseUrl === undefined ? 'its official endpoint' : new URL(baseUrl).origin;
}
