import type { Command } from 'commander';
import type { Context, Host } from '../../context.ts';
import { notFoundError } from '../../errors.ts';
import { EXIT, type ExitCode } from '../../exit-codes.ts';
import { confirm } from '../../outputs/present.ts';
import { requireLocalService } from '../../settings/config/address.ts';
import { DATABASE_OPTION, databaseUrl } from '../../settings/config/database.ts';

const EXAMPLES = `
Examples:
  promptrun keys list
  promptrun keys revoke <id>`;

export function declareKeysRevoke(command: Command, host: Host, run = keysRevoke): void {
  command
    .argument('<id>', 'as keys list shows it')
    .option(...DATABASE_OPTION)
    .addHelpText('after', EXAMPLES)
    .action((id: string, flags: { database?: string }) =>
      host.runAction(command, ctx => run(ctx, id, flags)),
    );
}

/** Makes a key of the local service invalid. */
export async function keysRevoke(
  ctx: Context,
  id: string,
  { database }: { database?: string } = {},
): Promise<ExitCode> {
  requireLocalService(ctx, 'keys revoke');
  const store = await ctx.local.open({ dataDir: ctx.dataDir, database: databaseUrl(ctx, database) });
  try {
    if (!(await store.revokeKey(id)))
      throw notFoundError(`there is no key '${id}'`, 'See promptrun keys list.');
    await confirm(ctx, { revoked: id }, `Key ${id} is revoked.`);
    return EXIT.ok;
  } finally {
    await store.close();
  }
}
