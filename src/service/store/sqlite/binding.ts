/** What both SQLite bindings have in common, as far as it is used here. */
export interface SqliteDatabase {
  prepare(sql: string): SqliteStatement;
  exec(sql: string): void;
  close(): void;
}

export interface SqliteStatement {
  all(...values: SqliteValue[]): unknown[];
  run(...values: SqliteValue[]): { changes: number | bigint };
}

export type SqliteValue = null | number | bigint | string | Uint8Array;

interface SqliteModule {
  DatabaseSync: new (path: string) => SqliteDatabase;
}

/** Opens a database file with Node's own SQLite where there is one, else with the package that ships it. */
export async function openSqlite(file: string): Promise<SqliteDatabase> {
  const { DatabaseSync } = builtInSqlite() ?? (await packagedSqlite());
  return new DatabaseSync(file);
}

function builtInSqlite(): SqliteModule | undefined {
  const getBuiltin = (process as { getBuiltinModule?: (id: string) => unknown }).getBuiltinModule;
  if (!getBuiltin) return undefined;
  // Node announces its SQLite as experimental on standard error, which belongs to the user.
  const emitting = Object.getOwnPropertyDescriptor(process, 'emitWarning');
  process.emitWarning = () => {};
  try {
    return getBuiltin('node:sqlite') as SqliteModule | undefined;
  } finally {
    if (emitting) Object.defineProperty(process, 'emitWarning', emitting);
  }
}

async function packagedSqlite(): Promise<SqliteModule> {
  return await import('./packaged.ts');
}

/** SQLite's primary result code of an error; undefined for any other error. */
export function sqliteCode(error: unknown): number | undefined {
  if (!(error instanceof Error) || !('errcode' in error)) return undefined;
  return typeof error.errcode === 'number' ? error.errcode & 0xff : undefined;
}

/** Another connection holds the lock. */
export const SQLITE_BUSY = 5;
