import {
  CompiledQuery,
  type DatabaseConnection,
  type SqliteDatabase as KyselyDatabase,
  type QueryResult,
  SqliteDialect,
  SqliteDriver,
} from 'kysely';
import {
  retryWhileLocked,
  type SqliteDatabase,
  type SqliteStatement,
  type SqliteValue,
} from './binding.ts';

const MAX_CACHED_STATEMENTS = 200;

/**
 * Returns a Kysely dialect over one connection of either SQLite binding. The caller closes the
 * connection.
 */
export function createStoreDialect(database: SqliteDatabase): SqliteDialect {
  const config = { database: createKyselyDatabase(database) };
  const dialect = new SqliteDialect(config);
  dialect.createDriver = () => new StoreDriver(config);
  return dialect;
}

/** A driver that waits for locks of other processes. */
class StoreDriver extends SqliteDriver {
  override async acquireConnection(): Promise<DatabaseConnection> {
    const connection = await super.acquireConnection();
    return {
      executeQuery: <R>(query: CompiledQuery): Promise<QueryResult<R>> =>
        retryWhileLocked(() => connection.executeQuery<R>(query)),
      streamQuery: (query, chunkSize) => connection.streamQuery(query, chunkSize),
    };
  }

  /** Takes the write lock at once, because a transaction that reads first may not get it later. */
  override async beginTransaction(connection: DatabaseConnection): Promise<void> {
    await connection.executeQuery(CompiledQuery.raw('begin immediate'));
  }

  /**
   * Ignores a failed rollback: faults such as a full disk end the transaction, and the original
   * error counts.
   */
  override async rollbackTransaction(connection: DatabaseConnection): Promise<void> {
    await super.rollbackTransaction(connection).catch(() => {});
  }
}

function createKyselyDatabase(database: SqliteDatabase): KyselyDatabase {
  const cachedStatements = new Map<string, SqliteStatement>();
  return {
    prepare(sql) {
      const statement = cachedStatements.get(sql) ?? database.prepare(sql);
      if (cachedStatements.size >= MAX_CACHED_STATEMENTS) cachedStatements.clear();
      cachedStatements.set(sql, statement);

      return {
        // True if the statement returns rows.
        reader: /^\s*(select|with)\b|\breturning\b/i.test(sql),
        all: values => statement.all(...(values as SqliteValue[])),
        run: values => statement.run(...(values as SqliteValue[])),
        iterate: () => {
          throw new Error('streaming is not supported');
        },
      };
    },
    close() {},
  };
}
