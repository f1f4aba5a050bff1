import type { LocalStore } from '../../service/local-store.ts';
import type { Env } from '../../utils/env.ts';
import type { Context } from '../context.ts';
import type { DatabaseFlags } from '../core/shared-flags.ts';
import { requireLocalService } from '../settings/config/address.ts';

/**
 * Opens the store whose keys and users an operator manages, and closes it after `use`.
 *
 * @param commandName the command, for the error message
 * @throws {CliError} USAGE_ERROR if another service is configured
 */
export async function withOperatorStore(
  ctx: Context,
  commandName: string,
  { database }: DatabaseFlags,
  use: (store: LocalStore) => Promise<void>,
): Promise<void> {
  requireLocalService(ctx, commandName);
  await ctx.local.withStore(
    { dataDir: ctx.dataDir, databaseUrl: findDatabaseUrl(ctx, database) },
    use,
  );
}

/** Returns the requested database URL; undefined means the file in the data directory. */
export function findDatabaseUrl(
  { env }: { readonly env: Env },
  flag: string | undefined,
): string | undefined {
  return flag ?? (env['PROMPTRUN_DATABASE_URL'] || undefined);
}

/**
 * Returns a command line for the same store. The URL may hold a password, so that a placeholder
 * stands for it.
 */
export function formatOperatorCommand(
  { formatCommand }: Context,
  { database }: DatabaseFlags,
  ...words: string[]
): string {
  return `${formatCommand(...words)}${database === undefined ? '' : ' --database <url>'}`;
}
