import type { Provider } from '../../models/entry.ts';

const MAX_LENGTH = 500;

/** A provider's fault in a line that can be shown: what it answered, without keys. */
export function explain(error: unknown, provider: Provider, key: string | undefined): string {
  const said = withoutKeys(messageOf(error), key).replace(/\s+/g, ' ').trim().slice(0, MAX_LENGTH);
  const status = statusOf(error);
  if (status !== undefined) {
    return `${provider.name} answered ${said.startsWith(String(status)) ? said : `${status} ${said}`}`;
  }
  if (hasCause(error)) return `${provider.name} can’t be reached at ${placeOf(provider)}: ${said}`;
  return `${provider.name} at ${placeOf(provider)} answered with something that can’t be read: ${said}`;
}

function statusOf(error: unknown): number | undefined {
  const status: unknown = error instanceof Error && 'status' in error ? error.status : undefined;
  return typeof status === 'number' ? status : undefined;
}

/** What went wrong on the way has a cause: a refused connection, a name nobody knows. */
function hasCause(error: unknown): error is Error {
  return error instanceof Error && error.cause !== undefined;
}

function messageOf(error: unknown): string {
  if (statusOf(error) === undefined && hasCause(error)) return messageOf(error.cause);
  return error instanceof Error ? error.message || error.name : String(error);
}

/** Providers repeat a wrong key, in part, in what they answer; a URL may carry a password. */
function withoutKeys(text: string, key: string | undefined): string {
  return (key === undefined ? text : text.replaceAll(key, '***'))
    .replace(/\b(sk|key|pk)-[\w*.-]{6,}/gi, '***')
    .replace(/Bearer\s+\S+/gi, 'Bearer ***')
    .replace(/\/\/[^/@\s]+@/g, '//***@');
}

function placeOf({ baseUrl }: Provider): string {
  if (baseUrl === undefined) return 'its official endpoint';
  return URL.canParse(baseUrl) ? new URL(baseUrl).host : 'an address that is no URL';
}
