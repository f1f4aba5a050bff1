import type { Env } from '../../core/types.ts';

/** The database that was asked for; undefined is the file in the data directory. */
export function databaseUrl({ env }: { readonly env: Env }, flag: string | undefined): string | undefined {
  return flag ?? (env['PROMPTRUN_DATABASE_URL'] || undefined);
}
