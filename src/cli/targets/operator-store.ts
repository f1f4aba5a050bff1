import type { LocalStore } from '../../service/local-store.ts';
import type { Context } from '../context.ts';
import type { DatabaseFlags } from '../core/shared-flags.ts';
import type { Env } from '../core/types.ts';
import { requireLocalService } from '../settings/config/address.ts';

/** The database that was asked for; undefined is the file in the data directory. */
export function databaseUrl({ env }: { readonly env: Env }, flag: string | undefined): string | undefined {
  return flag ?? (env['PROMPTRUN_DATABASE_URL'] || undefined);
}

/**
 * Opens the store whose keys and users an operator sees to, for as long as `use` takes.
 *
 * @param what the command, for the refusal if another service is configured
 * @throws {CliError} USAGE_ERROR then
 */
export async function withOperatorStore(
  ctx: Context,
  what: string,
  { database }: DatabaseFlags,
  use: (store: LocalStore) => Promise<void>,
): Promise<void> {
  requireLocalService(ctx, what);
  const store = await ctx.local.open({ dataDir: ctx.dataDir, database: databaseUrl(ctx, database) });
  try {
    await use(store);
  } finally {
    await store.close();
  }
}
