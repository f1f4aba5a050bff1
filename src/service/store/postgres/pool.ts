import type { PostgresPool, PostgresPoolClient } from 'kysely';
import pg from 'pg';
import { messageOf } from '../../../files/error-utils.ts';
import { DatabaseUnavailableError, DatabaseUrlError } from '../errors.ts';

/** Connections of one process. */
const CONNECTIONS = 10;
/** How long a connection may take to be made, or to become free, in milliseconds. */
const CONNECT_TIMEOUT_MS = 10_000;
/** Longer than any statement of the store takes; a server that went silent is given up after it, in milliseconds. */
const QUERY_TIMEOUT_MS = 60_000;
/** PostgreSQL's number for 64-bit integers; those of the store all fit into a number. */
const INT8 = 20;

function parserOf(oid: number, format: 'text' | 'binary'): unknown {
  return oid === INT8 && format !== 'binary' ? Number : pg.types.getTypeParser(oid, format);
}

/** Connections to the database; a fault of theirs is a DatabaseUnavailableError. */
export function connectionPool(url: string): PostgresPool {
  const pool = new pg.Pool({
    connectionString: url,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    query_timeout: QUERY_TIMEOUT_MS,
    keepAlive: true,
    application_name: 'promptrun',
    types: { getTypeParser: parserOf as typeof pg.types.getTypeParser },
    max: CONNECTIONS,
  });
  // What breaks while nobody uses it is replaced by itself.
  pool.on('error', () => {});
  pool.on('connect', client => client.on('error', () => {}));
  const names = new StatementNames();
  return {
    connect: async () => guarded(await pool.connect().catch(rethrow), names),
    end: () => pool.end(),
  };
}

/** Statements that are prepared on each connection; lists of any length make as many others, which are not. */
const MAX_PREPARED = 200;

/** Gives the statements that are prepared their names. */
class StatementNames {
  readonly #names = new Map<string, string>();

  of(text: string): string | undefined {
    const known = this.#names.get(text);
    if (known !== undefined || this.#names.size >= MAX_PREPARED) return known;
    const name = `promptrun_${this.#names.size}`;
    this.#names.set(text, name);
    return name;
  }
}

function guarded(client: pg.PoolClient, names: StatementNames): PostgresPoolClient {
  const query = (text: string, parameters: readonly unknown[]): Promise<unknown> => {
    // Statements without parameters are those of transactions and migrations.
    const name = parameters.length > 0 ? names.of(text) : undefined;
    return client
      .query({ text, values: [...parameters], ...(name !== undefined && { name }) })
      .catch(rethrow);
  };
  return { query, release: () => client.release() } as unknown as PostgresPoolClient;
}

function rethrow(error: unknown): never {
  if (!isAway(error)) throw error;
  throw new DatabaseUnavailableError(`the database is away: ${reasonOf(error)}`, { cause: error });
}

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
function isAway(error: unknown): boolean {
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
