import { createHash } from 'node:crypto';
import pg from 'pg';
import { inject } from 'vitest';

declare module 'vitest' {
  interface ProvidedContext {
    /** A database server for the tests; undefined where they keep their stores in files. */
    postgres: string | undefined;
    /** The name of a database on it with all tables and no rows. */
    migrated: string;
  }
}

const made = new Map<string, Promise<string>>();

/**
 * Returns the database of a data directory if the project's stores are in PostgreSQL, else
 * undefined.
 */
export async function createDatabaseFor(dataDir: string): Promise<string | undefined> {
  const server = inject('postgres');
  if (server === undefined) return undefined;
  const name = `t${createHash('sha256').update(dataDir).digest('hex').slice(0, 20)}`;
  const database = made.get(name) ?? makeDatabase(server, name, inject('migrated'));
  made.set(name, database);
  return await database;
}

/**
 * Returns the same for a store that is opened next to a service and closed soon: with fewer
 * connections.
 */
export async function findDatabaseBeside(dataDir: string): Promise<string | undefined> {
  const database = await createDatabaseFor(dataDir);
  return database && `${database}?prepare=false`;
}

/**
 * Makes the database where it is missing; gives its URL.
 *
 * @param template the database that it is a copy of; an empty one by default
 */
export async function makeDatabase(
  server: string,
  name: string,
  template = 'template1',
): Promise<string> {
  const client = new pg.Client(server);
  await client.connect();

  try {
    // Copies files: the default writes every page to the log.
    await client.query(`create database ${name} template ${template} strategy file_copy`);
  } catch (error) {
    const known = (error as { code?: string }).code;
    if (known !== '42P04' && known !== '23505') throw error;
  } finally {
    await client.end();
  }

  const url = new URL(server);
  url.pathname = `/${name}`;
  return url.href;
}
