import {
  CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  type Driver,
  type Kysely,
  type QueryResult,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
} from 'kysely';
import { type SqliteDatabase, type SqliteStatement, type SqliteValue, whenUnlocked } from './binding.ts';

const MAX_STATEMENTS = 200;

/** Kysely over one connection of either SQLite binding; the connection stays its opener's to close. */
export function sqliteDialect(database: SqliteDatabase): Dialect {
  return {
    createAdapter: () => new SqliteAdapter(),
    createDriver: () => new SqliteDriver(database),
    createIntrospector: (db: Kysely<never>) => new SqliteIntrospector(db),
    createQueryCompiler: () => new SqliteQueryCompiler(),
  };
}

/** Hands out the one connection to one user after the other. */
class SqliteDriver implements Driver {
  readonly #connection: SqliteConnection;
  #lastUser: Promise<void> = Promise.resolve();
  #release: () => void = () => {};

  constructor(database: SqliteDatabase) {
    this.#connection = new SqliteConnection(database);
  }

  async init(): Promise<void> {}

  async acquireConnection(): Promise<DatabaseConnection> {
    const before = this.#lastUser;
    let release = (): void => {};
    this.#lastUser = new Promise(resolve => {
      release = resolve;
    });
    await before;
    this.#release = release;
    return this.#connection;
  }

  async releaseConnection(): Promise<void> {
    this.#release();
  }

  /** Takes the write lock at once: a transaction that reads first could not get it later. */
  async beginTransaction(connection: DatabaseConnection): Promise<void> {
    await connection.executeQuery(CompiledQuery.raw('begin immediate'));
  }

  async commitTransaction(connection: DatabaseConnection): Promise<void> {
    await connection.executeQuery(CompiledQuery.raw('commit'));
  }

  async rollbackTransaction(connection: DatabaseConnection): Promise<void> {
    try {
      await connection.executeQuery(CompiledQuery.raw('rollback'));
    } catch {
      // A full disk and the like end the transaction by themselves; the fault itself is what is reported.
    }
  }

  async destroy(): Promise<void> {}
}

class SqliteConnection implements DatabaseConnection {
  readonly #statements = new Map<string, PreparedStatement>();

  constructor(readonly database: SqliteDatabase) {}

  async executeQuery<R>({ sql, parameters }: CompiledQuery): Promise<QueryResult<R>> {
    return await whenUnlocked(() => this.#execute<R>(sql, parameters as SqliteValue[]));
  }

  #execute<R>(sql: string, values: SqliteValue[]): QueryResult<R> {
    const { statement, read } = this.#prepare(sql);
    if (!read) return { rows: [], numAffectedRows: BigInt(statement.run(...values).changes) };
    const rows = read(values) as R[];
    return { rows, numAffectedRows: BigInt(rows.length) };
  }

  streamQuery(): never {
    throw new Error('streaming is not supported');
  }

  #prepare(sql: string): PreparedStatement {
    const cached = this.#statements.get(sql);
    if (cached) return cached;
    const statement = this.database.prepare(sql);
    const prepared = { statement, read: givesRows(sql) ? rowReader(statement) : undefined };
    if (this.#statements.size >= MAX_STATEMENTS) this.#statements.clear();
    this.#statements.set(sql, prepared);
    return prepared;
  }
}

interface PreparedStatement {
  readonly statement: SqliteStatement;
  /** Undefined for a statement that gives no rows. */
  readonly read: ((values: SqliteValue[]) => unknown[]) | undefined;
}

/** The objects that the bindings make of rows are slow to make and slow to use; arrays are neither. */
function rowReader(statement: SqliteStatement): (values: SqliteValue[]) => unknown[] {
  if (!statement.setReturnArrays || !statement.columns) return values => statement.all(...values);
  statement.setReturnArrays(true);
  const names = statement.columns().map(({ name }) => name);
  return values => (statement.all(...values) as unknown[][]).map(row => objectOf(names, row));
}

function objectOf(names: readonly string[], row: readonly unknown[]): Record<string, unknown> {
  const object: Record<string, unknown> = {};
  for (let index = 0; index < names.length; index += 1) object[names[index] as string] = row[index];
  return object;
}

function givesRows(sql: string): boolean {
  return /^\s*(select|with|pragma)\b/i.test(sql) || /\breturning\b/i.test(sql);
}
