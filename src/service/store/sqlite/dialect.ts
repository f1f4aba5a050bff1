import {
  CompiledQuery,
  type DatabaseConnection,
  type SqliteDatabase as KyselyDatabase,
  type QueryResult,
  SqliteDialect,
  SqliteDriver,
} from 'kysely';
import { type SqliteDatabase, type SqliteStatement, type SqliteValue, whenUnlocked } from './binding.ts';

const MAX_STATEMENTS = 200;

/** Kysely over one connection of either SQLite binding; the connection stays its opener's to close. */
export function storeDialect(database: SqliteDatabase): SqliteDialect {
  const config = { database: kyselyDatabase(database) };
  const dialect = new SqliteDialect(config);
  dialect.createDriver = () => new StoreDriver(config);
  return dialect;
}

/** Waits for what another process has locked. */
class StoreDriver extends SqliteDriver {
  override async acquireConnection(): Promise<DatabaseConnection> {
    const connection = await super.acquireConnection();
    return {
      executeQuery: <R>(query: CompiledQuery): Promise<QueryResult<R>> =>
        whenUnlocked(() => connection.executeQuery<R>(query)),
      streamQuery: (query, chunkSize) => connection.streamQuery(query, chunkSize),
    };
  }

  /** Takes the write lock at once: a transaction that reads first could not get it later. */
  override async beginTransaction(connection: DatabaseConnection): Promise<void> {
    await connection.executeQuery(CompiledQuery.raw('begin immediate'));
  }

  /** A full disk and the like end the transaction by themselves; the fault itself is what is reported. */
  override async rollbackTransaction(connection: DatabaseConnection): Promise<void> {
    await super.rollbackTransaction(connection).catch(() => {});
  }
}

function kyselyDatabase(database: SqliteDatabase): KyselyDatabase {
  const prepared = new Map<string, SqliteStatement>();
  return {
    prepare(sql) {
      const statement = prepared.get(sql) ?? database.prepare(sql);
      if (prepared.size >= MAX_STATEMENTS) prepared.clear();
      prepared.set(sql, statement);
      return {
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
