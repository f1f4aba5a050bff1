import { messageOf } from '../../thrown.ts';
import { DatabaseUnavailableError, DatabaseUrlError } from '../errors.ts';

/** Checks a URL as `--database` and PROMPTRUN_DATABASE_URL take it. */
export function checkDatabaseUrl(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const named = url && (url.hostname !== '' || url.pathname.length > 1);
  if (named && ['postgres:', 'postgresql:'].includes(url.protocol)) return url;
  throw new DatabaseUrlError(
    'the database URL is not one of PostgreSQL; it looks like postgres://user:password@host:5432/name',
  );
}

/** Where a database is, for messages: host, port and name. */
export function placeOf({ hostname, port, pathname }: URL): string {
  return `${hostname || 'localhost'}:${port || 5432}${pathname}`;
}

/** What PostgreSQL calls its own faults: five characters; 08 and 57P are those of the connection. */
const AWAY = /^(?:08...|57P0[1-5]|53300|25006)$/;
/** What Node calls those of the network. */
const NETWORK = /^E(?:CONN|HOST|NET|PIPE|TIMEDOUT|AI_|NOTFOUND)/;
/** What the driver says without a code. */
const LOST =
  /connection terminated|timeout exceeded|not queryable|connection error|client was closed|cannot use a pool/i;

/** Whether a fault means that the database is away, and not that it refused a query. */
export function isAway(error: unknown): boolean {
  if (error instanceof DatabaseUnavailableError) return true;
  const code: unknown = error instanceof Error && 'code' in error ? error.code : undefined;
  if (typeof code === 'string') return AWAY.test(code) || NETWORK.test(code);
  return LOST.test(messageOf(error));
}

/** The reason of a fault in a few words; Node gives none for a name with several addresses. */
export function reasonOf(error: unknown): string {
  if (error instanceof DatabaseUnavailableError && error.cause !== undefined) return reasonOf(error.cause);
  const code: unknown = error instanceof Error && 'code' in error ? error.code : undefined;
  return messageOf(error) || (typeof code === 'string' ? code : 'no answer');
}
