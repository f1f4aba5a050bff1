import { Socket } from 'node:net';
import pg from 'pg';
import { getErrorCode, toError } from '../../../utils/error-utils.ts';
import { isUnavailable, READ_ONLY_CODE } from './database-faults.ts';
import type { HostAddress } from './database-url.ts';

/** Maximum number of connections of one process. */
const MAX_POOL_CONNECTIONS = 10;

/** Maximum time to wait for a free connection, in milliseconds. */
const QUEUE_TIMEOUT_MS = 8000;

/** Maximum time of a statement, in milliseconds: longer than any of the store takes. */
const QUERY_TIMEOUT_MS = 60_000;

/** The driver's message if a server does not accept a connection in time. */
const CONNECT_TIMEOUT_MESSAGE = 'timeout expired';

/** The driver's message if TLS is required and the server has none. */
const NO_TLS_MESSAGE = 'The server does not support SSL connections';

/** PostgreSQL's code of a refusal because all its connections are in use. */
const TOO_MANY_CONNECTIONS_CODE = '53300';

/** Time without an answer after which the server is probed, in milliseconds. */
const SILENCE_BEFORE_PROBE_MS = 2000;

/** Maximum time to wait for the answer to a probe, in milliseconds. */
const PROBE_TIMEOUT_MS = 4000;

/**
 * PostgreSQL's id of the type of 64-bit integers. All in the store fit into a JavaScript number.
 */
const INT8_TYPE_ID = 20;

function chooseParser(typeId: number, format: 'text' | 'binary'): unknown {
  return typeId === INT8_TYPE_ID && format !== 'binary'
    ? Number
    : pg.types.getTypeParser(typeId, format);
}

interface HostOptions {
  readonly connectTimeoutMs: number;
  /** True to refuse connections to a server that accepts no writes. */
  readonly needsWrites: boolean;
  /** Called when all connections are dropped. */
  readonly onDropped?: () => void;
}

/** The connections to one server, which are all dropped at once if it stops answering. */
export class DatabaseHost {
  readonly name: string;
  readonly #config: pg.ClientConfig;
  readonly #pool: pg.Pool;
  readonly #sockets = new Set<Socket>();
  /** The `reject` functions of callers that wait for a connection. */
  readonly #rejectFunctions = new Set<(error: Error) => void>();
  readonly #onDropped: (() => void) | undefined;
  readonly #fallsBackToPlain: boolean;
  #probing: Promise<boolean> | undefined;

  constructor(
    { name, config, fallsBackToPlain }: HostAddress,
    { connectTimeoutMs, needsWrites, onDropped }: HostOptions,
  ) {
    this.name = name;
    this.#fallsBackToPlain = fallsBackToPlain;
    this.#onDropped = onDropped;
    this.#config = {
      ...config,
      connectionTimeoutMillis: connectTimeoutMs,
      keepAlive: true,
      application_name: 'promptrun',
      stream: () => this.#createSocket(),
    };

    const hostConfig = this.#config;
    this.#pool = new pg.Pool({
      query_timeout: QUERY_TIMEOUT_MS,
      connectionTimeoutMillis: QUEUE_TIMEOUT_MS,
      types: { getTypeParser: chooseParser as typeof pg.types.getTypeParser },
      max: MAX_POOL_CONNECTIONS,
      Client: class extends pg.Client {
        constructor(config?: pg.ClientConfig) {
          super({ ...config, ...hostConfig });
        }
      },
      ...(needsWrites && { verify: (client, done) => void verifyWrites(client, done) }),
    });

    // The pool replaces an idle connection that breaks.
    this.#pool.on('error', () => {});
    this.#pool.on('connect', client => client.on('error', () => {}));
  }

  /** Resolves with a connection; rejects as soon as the connections are dropped. */
  async connect(): Promise<pg.PoolClient> {
    try {
      return await this.#connect();
    } catch (error) {
      if (
        !this.#fallsBackToPlain ||
        !(error instanceof Error) ||
        error.message !== NO_TLS_MESSAGE
      ) {
        throw error;
      }
      // Later connections stay plain too.
      this.#config.ssl = false;
      return this.#connect();
    }
  }

  /**
   * Runs a query. If it takes long and the server doesn't answer a probe, drops all connections.
   */
  async query(client: pg.PoolClient, config: pg.QueryConfig): Promise<unknown> {
    const watch = setInterval(() => void this.#dropIfSilent(), SILENCE_BEFORE_PROBE_MS).unref();
    try {
      return await client.query(config);
    } catch (error) {
      if (getErrorCode(error) === READ_ONLY_CODE) this.drop('it has become read-only');
      throw error;
    } finally {
      clearInterval(watch);
    }
  }

  /** Drops all connections, and rejects callers that wait for one. */
  drop(reason: string): void {
    this.#rejectWaiting(reason);
    this.#onDropped?.();
    for (const socket of this.#sockets) socket.destroy();
  }

  end(): Promise<void> {
    return this.#pool.end();
  }

  #connect(): Promise<pg.PoolClient> {
    return new Promise((resolve, reject) => {
      this.#rejectFunctions.add(reject);
      this.#pool.connect((error, client) => {
        const isAwaited = this.#rejectFunctions.delete(reject);
        if (client === undefined) {
          reject(error ?? new Error('connection terminated'));
          if (error?.message === CONNECT_TIMEOUT_MESSAGE) {
            this.#rejectWaiting('it accepts no connections');
          }
        } else if (isAwaited) {
          resolve(client);
        } else {
          client.release();
        }
      });
    });
  }

  #rejectWaiting(reason: string): void {
    const rejects = [...this.#rejectFunctions];
    this.#rejectFunctions.clear();
    for (const reject of rejects) reject(new Error(`connection terminated: ${reason}`));
  }

  async #dropIfSilent(): Promise<void> {
    this.#probing ??= this.#probe().finally(() => {
      this.#probing = undefined;
    });
    if (!(await this.#probing)) this.drop('it no longer answers');
  }

  /** Returns true if the server answers on a new connection, even with a refusal. */
  async #probe(): Promise<boolean> {
    const client = new pg.Client({
      ...this.#config,
      connectionTimeoutMillis: PROBE_TIMEOUT_MS,
      query_timeout: PROBE_TIMEOUT_MS,
    });
    client.on('error', () => {});
    try {
      await client.connect();
      await client.query('select 1');
      return true;
    } catch (error) {
      return !isUnavailable(error) || getErrorCode(error) === TOO_MANY_CONNECTIONS_CODE;
    } finally {
      client.end().catch(() => {});
    }
  }

  #createSocket(): Socket {
    const socket = new Socket();
    this.#sockets.add(socket);
    socket.once('close', () => this.#sockets.delete(socket));
    return socket;
  }
}

async function verifyWrites(client: pg.PoolClient, done: (error?: Error) => void): Promise<void> {
  try {
    await checkWrites(client);
    done();
  } catch (error) {
    done(toError(error));
  }
}

async function checkWrites(client: pg.PoolClient): Promise<void> {
  const { rows } = await client.query<{ readOnly: boolean }>(
    `select pg_is_in_recovery() or current_setting('transaction_read_only')::boolean as "readOnly"`,
  );
  if (rows[0]?.readOnly !== false) throw new Error('connection terminated: it accepts no writes');
}
