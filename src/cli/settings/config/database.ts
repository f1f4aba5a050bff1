import type { Env } from '../../core/types.ts';

/** The flag of every command that works on the local store. */
export const DATABASE_OPTION = [
  '--database <url>',
  'keep everything in PostgreSQL (postgres://…); PROMPTRUN_DATABASE_URL does the same and shows no password',
] as const;

/** The database that was asked for; undefined is the file in the data directory. */
export function databaseUrl({ env }: { readonly env: Env }, flag: string | undefined): string | undefined {
  return flag ?? (env['PROMPTRUN_DATABASE_URL'] || undefined);
}
