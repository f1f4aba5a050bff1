import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { PostgresPool, PostgresPoolClient } from 'kysely';
import type pg from 'pg';
import { getErrorCode } from '../../../utils/error-utils.ts';
import { serviceClock, waitAtMost } from '../../core/clock.ts';
import { DatabaseUnavailableError, DatabaseUrlError } from '../store-errors.ts';
import { explainDatabaseFault, isUnavailable } from './database-faults.ts';
import { DatabaseHost } from './database-host.ts';
import type { DatabaseAddress, HostAddress } from './database-url.ts';

/**
 * Maximum time that a request waits until a lost server is found again, in milliseconds. The search
 * then continues without the request.
 */
const LOST_SERVER_WAIT_MS = 1000;

/** Pause before a server that refused is asked again, in milliseconds. */
const RETRY_INTERVAL_MS = 250;

/**
 * Maximum number of prepared statements on each connection. Lists of different lengths make
 * different statements.
 */
const MAX_PREPARED_STATEMENTS = 200;

/**
 * Number of connections to test, and of rounds of tests: a pooler under load may let connections
 * keep their servers for a while. /
 */
const TESTED_CONNECTIONS = 2;
const TEST_ROUNDS = 10;

/** PostgreSQL's codes for a prepared statement that already exists, and for one that doesn't. */
const STATEMENT_FAULT_CODES: readonly (string | undefined)[] = ['42P05', '26000'];

/** The connections of a process to its database. */
export interface DatabasePool extends PostgresPool {
  /**
   * Checks that prepared statements work, unless the URL has `prepare=false`.
   *
   * @throws {DatabaseUrlError} if a pooler loses them
   */
  check(): Promise<void>;
}

/** Returns a pool whose connection faults are DatabaseUnavailableErrors. */
export function createDatabasePool({
  hosts,
  connectTimeoutMs,
  usesPreparedStatements,
}: DatabaseAddress): DatabasePool {
  const primary = new PrimaryServer(hosts, connectTimeoutMs);
  const statementNames = new StatementNames(usesPreparedStatements ? MAX_PREPARED_STATEMENTS : 0);
  return {
    async connect() {
      const { host, client } = await primary.connect().catch(rethrowUnavailable);
      return wrapClient(host, client, statementNames);
    },
    async check() {
      if (usesPreparedStatements && (await mayLoseStatements(primary).catch(rethrowUnavailable))) {
        throw prepareFalseError();
      }
    },
    end: () => primary.end(),
  };
}

interface PooledConnection {
  readonly host: DatabaseHost;
  readonly client: pg.PoolClient;
}

/** Finds the server that accepts writes, and finds it again after a failover or a restart. */
class PrimaryServer {
  readonly #hosts: readonly DatabaseHost[];
  #current: DatabaseHost | undefined;
  #search: Promise<DatabaseHost> | undefined;
  #wasEverFound = false;

  constructor(addresses: readonly HostAddress[], connectTimeoutMs: number) {
    const needsWrites = addresses.length > 1;
    this.#hosts = addresses.map(address => {
      const onDropped = (): void => this.#forgetPrimary(host);
      const host = new DatabaseHost(address, { connectTimeoutMs, needsWrites, onDropped });
      return host;
    });
  }

  async connect(): Promise<PooledConnection> {
    const current = this.#current;
    if (current) {
      try {
        return { host: current, client: await current.connect() };
      } catch (error) {
        // Busy connections say nothing about the state of the server.
        if (isPoolBusy(error)) throw error;
        this.#forgetPrimary(current);
      }
    }

    this.#search ??= this.#findPrimary().finally(() => {
      this.#search = undefined;
    });
    const host = this.#wasEverFound
      ? await waitAtMost(LOST_SERVER_WAIT_MS, serviceClock, this.#search)
      : await this.#search;
    if (host === undefined) throw new DatabaseUnavailableError('the database no longer answers');
    return { host, client: await host.connect() };
  }

  async end(): Promise<void> {
    await Promise.all(this.#hosts.map(host => host.end()));
  }

  #forgetPrimary(host: DatabaseHost): void {
    if (this.#current === host) this.#current = undefined;
  }

  /**
   * Asks all servers at once. Retries those that refuse until all have answered once, because a
   * standby may be promoted while a silent server is waited for.
   */
  #findPrimary(): Promise<DatabaseHost> {
    const reasons = new Map<DatabaseHost, string>();
    return new Promise((resolve, reject) => {
      let isOver = false;
      const tryHost = async (host: DatabaseHost): Promise<void> => {
        while (!isOver) {
          try {
            (await host.connect()).release();
            if (isOver) return;
            isOver = true;
            this.#setPrimary(host);
            resolve(host);
          } catch (error) {
            reasons.set(host, explainDatabaseFault(error));
            isOver ||= reasons.size === this.#hosts.length;
            if (isOver) {
              reject(this.#hosts.length === 1 ? error : noPrimaryError(reasons));
            } else {
              await sleep(RETRY_INTERVAL_MS);
            }
          }
        }
      };
      for (const host of this.#hosts) void tryHost(host);
    });
  }

  #setPrimary(host: DatabaseHost): void {
    this.#current = host;
    this.#wasEverFound = true;
    for (const other of this.#hosts) {
      if (other !== host) other.drop('another server is the primary');
    }
  }
}

function noPrimaryError(reasons: ReadonlyMap<DatabaseHost, string>): DatabaseUnavailableError {
  const hostReasons = [...reasons].map(([{ name }, reason]) => `${name}: ${reason}`);
  return new DatabaseUnavailableError(
    `no host of the database accepts writes (${hostReasons.join('; ')})`,
  );
}

function isPoolBusy(error: unknown): boolean {
  return error instanceof Error && error.message === 'timeout exceeded when trying to connect';
}

/** Names statements, so that each connection prepares them once. */
class StatementNames {
  readonly #statementNames = new Map<string, string>();
  readonly #max: number;

  constructor(max: number) {
    this.#max = max;
  }

  getName(text: string): string | undefined {
    const existing = this.#statementNames.get(text);
    if (existing !== undefined || this.#statementNames.size >= this.#max) return existing;
    const name = `promptrun_${this.#statementNames.size}`;
    this.#statementNames.set(text, name);
    return name;
  }
}

/**
 * Returns true if connections share or lose prepared statements, because a pooler changes their
 * server.
 */
async function mayLoseStatements(primary: PrimaryServer): Promise<boolean> {
  const clients = await Promise.all(
    Array.from({ length: TESTED_CONNECTIONS }, async () => (await primary.connect()).client),
  );
  const statement = { name: `promptrun_${randomUUID()}`, text: 'select $1::int', values: [1] };
  try {
    for (let round = 0; round < TEST_ROUNDS; round += 1) {
      for (const client of clients) await client.query(statement);
    }
    return false;
  } catch (error) {
    if (!STATEMENT_FAULT_CODES.includes(getErrorCode(error))) throw error;
    return true;
  } finally {
    // Closes the connections, and the statement with them.
    for (const client of clients) client.release(true);
  }
}

function prepareFalseError(): DatabaseUrlError {
  return new DatabaseUrlError(
    'the database is behind a pooler in transaction mode that loses prepared statements; add prepare=false to its URL, as in postgres://host:6432/name?prepare=false, or set max_prepared_statements in PgBouncer 1.21 or newer',
  );
}

function wrapClient(
  host: DatabaseHost,
  client: pg.PoolClient,
  statementNames: StatementNames,
): PostgresPoolClient {
  const query = (text: string, parameters: readonly unknown[]): Promise<unknown> => {
    // Only transactions and migrations have statements without parameters, which need no preparing.
    const name = parameters.length > 0 ? statementNames.getName(text) : undefined;
    return host
      .query(client, { text, values: [...parameters], ...(name !== undefined && { name }) })
      .catch(rethrowUnavailable);
  };
  return { query, release: () => client.release() } as unknown as PostgresPoolClient;
}

function rethrowUnavailable(error: unknown): never {
  if (!isUnavailable(error)) throw error;
  throw new DatabaseUnavailableError(
    `the database is unavailable: ${explainDatabaseFault(error)}`,
    {
      cause: error,
    },
  );
}
