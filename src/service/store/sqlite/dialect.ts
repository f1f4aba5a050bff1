import {
  CompiledQuery,
  type ConnectionProvider,
  type DatabaseConnection,
  DefaultConnectionProvider,
  DefaultQueryExecutor,
  type Dialect,
  type Driver,
  Kysely,
  type QueryResult,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
} from 'kysely';
import {
  isBusy,
  type SqliteDatabase,
  type SqliteStatement,
  type SqliteValue,
  whenUnlocked,
} from './binding.ts';

const MAX_STATEMENTS = 200;

/** Kysely over one connection of either SQLite binding; the connection stays its opener's to close. */
export function sqliteKysely<T>(database: SqliteDatabase): Kysely<T> {
  const driver = new SqliteDriver(database);
  const dialect: Dialect = {
    createAdapter: () => new SqliteAdapter(),
    createDriver: () => driver,
    createIntrospector: (db: Kysely<never>) => new SqliteIntrospector(db),
    createQueryCompiler: () => new SqliteQueryCompiler(),
  };
  const executor = new SqliteExecutor(driver, new DefaultConnectionProvider(driver));
  return new Kysely<T>({ config: { dialect }, dialect, driver, executor });
}

/** Leaves out what Kysely does for each query to share connections: a quarter of what a creation takes. */
class SqliteExecutor extends DefaultQueryExecutor {
  readonly #driver: SqliteDriver;
  readonly #holds: boolean;

  /** @param holds whether what is provided is the connection that is held already, as in a transaction */
  constructor(driver: SqliteDriver, provider: ConnectionProvider, holds = false) {
    super(new SqliteQueryCompiler(), new SqliteAdapter(), provider);
    this.#driver = driver;
    this.#holds = holds;
  }

  override async executeQuery<R>(query: CompiledQuery): Promise<QueryResult<R>> {
    const { connection, isFree } = this.#driver;
    if (!this.#holds && !isFree) return await super.executeQuery<R>(query);
    try {
      // Over before anybody else can want the connection.
      return connection.execute<R>(query);
    } catch (error) {
      if (!isBusy(error)) throw error;
      return await (this.#holds ? connection.executeQuery<R>(query) : super.executeQuery<R>(query));
    }
  }

  override withConnectionProvider(provider: ConnectionProvider): DefaultQueryExecutor {
    return this.#holds ? this : new SqliteExecutor(this.#driver, provider, true);
  }
}

/** Hands out the one connection to one user after the other. */
class SqliteDriver implements Driver {
  readonly connection: SqliteConnection;
  #lastUser: Promise<void> = Promise.resolve();
  #release: () => void = () => {};
  /** Those who have the connection or wait for it. */
  #users = 0;

  constructor(database: SqliteDatabase) {
    this.connection = new SqliteConnection(database);
  }

  get isFree(): boolean {
    return this.#users === 0;
  }

  async init(): Promise<void> {}

  async acquireConnection(): Promise<DatabaseConnection> {
    this.#users += 1;
    const before = this.#lastUser;
    let release = (): void => {};
    this.#lastUser = new Promise(resolve => {
      release = resolve;
    });
    await before;
    this.#release = release;
    return this.connection;
  }

  async releaseConnection(): Promise<void> {
    this.#users -= 1;
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

  executeQuery<R>(query: CompiledQuery): Promise<QueryResult<R>> {
    return whenUnlocked(() => this.execute<R>(query));
  }

  /** @throws where another process has locked the database */
  execute<R>({ sql, parameters }: CompiledQuery): QueryResult<R> {
    const values = parameters as SqliteValue[];
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
