import { createHash } from 'node:crypto';
import pg from 'pg';
import { inject } from 'vitest';
import './postgres-setup.ts';

/** The database that stands for a data directory where a project's stores are in PostgreSQL, else undefined. */
export async function databaseFor(dataDir: string): Promise<string | undefined> {
  const server = inject('postgres');
  if (server === undefined) return undefined;
  return await makeDatabase(server, `t${createHash('sha256').update(dataDir).digest('hex').slice(0, 20)}`);
}

/** Makes the database where it is missing; gives its URL. */
export async function makeDatabase(server: string, name: string): Promise<string> {
  const client = new pg.Client(server);
  await client.connect();
  try {
    await client.query(`create database ${name}`);
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
