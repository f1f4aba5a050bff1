import type { PostgresPool, PostgresPoolClient } from 'kysely';
import pg from 'pg';
import { DatabaseUnavailableError } from '../errors.ts';
import { isAway, reasonOf } from './database-url.ts';

/** Connections of one process. */
const CONNECTIONS = 10;
/** How long a connection may take to be made, or to become free, in milliseconds. */
const CONNECT_TIMEOUT_MS = 10_000;
/** Longer than any statement of the store takes; a server that went silent is given up after it, in milliseconds. */
const QUERY_TIMEOUT_MS = 60_000;
/** PostgreSQL's number for 64-bit integers; those of the store all fit into a number. */
const INT8 = 20;

/** What every connection to the database is made with. */
export function connectionConfig(url: string): pg.ClientConfig {
  return {
    connectionString: url,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    query_timeout: QUERY_TIMEOUT_MS,
    keepAlive: true,
    application_name: 'promptrun',
    types: { getTypeParser: parserOf as typeof pg.types.getTypeParser },
  };
}

function parserOf(oid: number, format: 'text' | 'binary'): unknown {
  return oid === INT8 && format !== 'binary' ? Number : pg.types.getTypeParser(oid, format);
}

/** Connections to the database; a fault of theirs is a DatabaseUnavailableError. */
export function connectionPool(url: string): PostgresPool {
  const pool = new pg.Pool({ ...connectionConfig(url), max: CONNECTIONS });
  // What breaks while nobody uses it is replaced by itself.
  pool.on('error', () => {});
  pool.on('connect', client => client.on('error', () => {}));
  return {
    connect: async () => guarded(await pool.connect().catch(rethrow)),
    end: () => pool.end(),
  };
}

function guarded(client: pg.PoolClient): PostgresPoolClient {
  const query = (sql: string, parameters: readonly unknown[]): Promise<unknown> =>
    client.query(sql, [...parameters]).catch(rethrow);
  return { query, release: () => client.release() } as unknown as PostgresPoolClient;
}

function rethrow(error: unknown): never {
  if (!isAway(error)) throw error;
  throw new DatabaseUnavailableError(`the database is away: ${reasonOf(error)}`, { cause: error });
}
