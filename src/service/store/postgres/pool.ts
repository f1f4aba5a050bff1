import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { PostgresPool, PostgresPoolClient } from 'kysely';
import type pg from 'pg';
import { codeOf } from '../../../files/error-utils.ts';
import { DatabaseUnavailableError, DatabaseUrlError } from '../errors.ts';
import { isAway, reasonOf } from './away.ts';
import { DatabaseHost } from './database-host.ts';
import type { DatabaseAddress, HostAddress } from './database-url.ts';

/** The connections of a process to its database. */
export interface ConnectionPool extends PostgresPool {
  /**
   * Finds out if statements can be prepared.
   *
   * @throws {DatabaseUrlError} if a pooler loses them, and the URL does not say that none are to be prepared
   */
  check(): Promise<void>;
}

/** Connections to the database; a fault of theirs is a DatabaseUnavailableError. */
export function connectionPool({ hosts, connectTimeoutMs, prepares }: DatabaseAddress): ConnectionPool {
  const primary = new Primary(hosts, connectTimeoutMs);
  const names = new StatementNames(prepares ? MAX_PREPARED : 0);
  return {
    async connect() {
      const { host, client } = await primary.connect().catch(rethrow);
      return guarded(host, client, names);
    },
    async check() {
      if (prepares && (await losesStatements(primary).catch(rethrow))) throw needsPrepareFalse();
    },
    end: () => primary.end(),
  };
}

interface Connection {
  readonly host: DatabaseHost;
  readonly client: pg.PoolClient;
}

/** The one of several servers that accepts writes; it is looked for again once it is gone. */
class Primary {
  readonly #hosts: readonly DatabaseHost[];
  #current: DatabaseHost | undefined;
  #search: Promise<DatabaseHost> | undefined;

  constructor(addresses: readonly HostAddress[], connectTimeoutMs: number) {
    const mustWrite = addresses.length > 1;
    this.#hosts = addresses.map(address => {
      const onDropped = (): void => this.#leave(host);
      const host = new DatabaseHost(address, { connectTimeoutMs, mustWrite, onDropped });
      return host;
    });
    if (!mustWrite) this.#current = this.#hosts[0];
  }

  async connect(): Promise<Connection> {
    const current = this.#current;
    if (current) {
      try {
        return { host: current, client: await current.connect() };
      } catch (error) {
        // All its connections being busy says nothing of the server.
        if (this.#hosts.length === 1 || isBusy(error)) throw error;
        this.#leave(current);
      }
    }
    this.#search ??= this.#find().finally(() => {
      this.#search = undefined;
    });
    const host = await this.#search;
    return { host, client: await host.connect() };
  }

  async end(): Promise<void> {
    await Promise.all(this.#hosts.map(host => host.end()));
  }

  /** A single server is all there is to go back to. */
  #leave(host: DatabaseHost): void {
    if (this.#current === host && this.#hosts.length > 1) this.#current = undefined;
  }

  /** Asks all servers at once, and again those that refused while a dead one takes its time: a standby may be promoted. */
  async #find(): Promise<DatabaseHost> {
    const reasons = new Map<DatabaseHost, string>();
    const over = new AbortController();
    const attempts = this.#hosts.map(async host => {
      for (;;) {
        try {
          const client = await host.connect();
          client.release();
          return host;
        } catch (error) {
          reasons.set(host, reasonOf(error));
          if (over.signal.aborted || reasons.size === this.#hosts.length) throw error;
          await sleep(ASK_AGAIN_MS);
        }
      }
    });
    try {
      const found = await Promise.any(attempts);
      this.#current = found;
      for (const host of this.#hosts) if (host !== found) host.drop('another server is the primary');
      return found;
    } catch {
      const each = this.#hosts.map(host => `${host.place}: ${reasons.get(host) ?? 'no answer'}`);
      throw new DatabaseUnavailableError(`no host of the database accepts writes (${each.join('; ')})`);
    } finally {
      over.abort();
    }
  }
}

/** How long a server is left alone that took no writes, in milliseconds. */
const ASK_AGAIN_MS = 250;

function isBusy(error: unknown): boolean {
  return error instanceof Error && error.message === 'timeout exceeded when trying to connect';
}

/** Statements that are prepared on each connection; lists of any length make as many others, which are not. */
const MAX_PREPARED = 200;

/** Gives the statements that are prepared their names. */
class StatementNames {
  readonly #names = new Map<string, string>();
  readonly #most: number;

  constructor(most: number) {
    this.#most = most;
  }

  of(text: string): string | undefined {
    const known = this.#names.get(text);
    if (known !== undefined || this.#names.size >= this.#most) return known;
    const name = `promptrun_${this.#names.size}`;
    this.#names.set(text, name);
    return name;
  }
}

/** Connections that are tried, and how often each: a pooler under load may give some of them servers of their own. */
const TRIED = 2;
const ROUNDS = 10;
/** PostgreSQL's codes for a prepared statement that is there already, and for one that is not. */
const STATEMENT_FAULTS: readonly (string | undefined)[] = ['42P05', '26000'];

/** Whether connections share prepared statements, or lose them: what is behind them changes with each transaction. */
async function losesStatements(primary: Primary): Promise<boolean> {
  const clients = await Promise.all(
    Array.from({ length: TRIED }, async () => (await primary.connect()).client),
  );
  const statement = { name: `promptrun_${randomUUID()}`, text: 'select $1::int', values: [1] };
  try {
    for (let round = 0; round < ROUNDS; round += 1) {
      for (const client of clients) await client.query(statement);
    }
    return false;
  } catch (error) {
    if (!STATEMENT_FAULTS.includes(codeOf(error))) throw error;
    return true;
  } finally {
    // The statement goes with the connection.
    for (const client of clients) client.release(true);
  }
}

function needsPrepareFalse(): DatabaseUrlError {
  return new DatabaseUrlError(
    'the database is behind a pooler in transaction mode that keeps no prepared statements: add prepare=false to its URL, as in postgres://host:6432/name?prepare=false, or set max_prepared_statements in PgBouncer 1.21 or newer',
  );
}

function guarded(host: DatabaseHost, client: pg.PoolClient, names: StatementNames): PostgresPoolClient {
  const query = (text: string, parameters: readonly unknown[]): Promise<unknown> => {
    // Statements without parameters are those of transactions and migrations.
    const name = parameters.length > 0 ? names.of(text) : undefined;
    return host
      .query(client, { text, values: [...parameters], ...(name !== undefined && { name }) })
      .catch(rethrow);
  };
  return { query, release: () => client.release() } as unknown as PostgresPoolClient;
}

function rethrow(error: unknown): never {
  if (!isAway(error)) throw error;
  throw new DatabaseUnavailableError(`the database is away: ${reasonOf(error)}`, { cause: error });
}
