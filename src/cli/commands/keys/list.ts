import type { Command } from 'commander';
import type { Context, Host } from '../../context.ts';
import { ageOf } from '../../core/age.ts';
import type { LocalKey } from '../../core/local-service.ts';
import { EXIT, type ExitCode } from '../../exit-codes.ts';
import { present } from '../../outputs/present.ts';
import { requireLocalService } from '../../settings/config/address.ts';
import { DATABASE_OPTION, databaseUrl } from '../../settings/config/database.ts';
import { type Column, plainRows, terminalTable } from '../../terminal/table.ts';

const EXAMPLES = `
Examples:
  promptrun keys list

Piped, a line is: id, user, plan, credits, created at, last used at or nothing.`;

const COLUMNS: readonly Column[] = [
  { title: 'ID', min: 8 },
  { title: 'USER', min: 6 },
  { title: 'PLAN' },
  { title: 'CREDITS', align: 'right' },
  { title: 'CREATED', dropOrder: 1 },
  { title: 'LAST USED', dropOrder: 2 },
];

export function declareKeysList(command: Command, host: Host, run = keysList): void {
  command
    .option(...DATABASE_OPTION)
    .addHelpText('after', EXAMPLES)
    .action((flags: { database?: string }) => host.runAction(command, ctx => run(ctx, flags)));
}

/** Lists the keys of the local service: whose they are and when they were used, never the keys themselves. */
export async function keysList(ctx: Context, { database }: { database?: string } = {}): Promise<ExitCode> {
  requireLocalService(ctx, 'keys list');
  const store = await ctx.local.open({ dataDir: ctx.dataDir, database: databaseUrl(ctx, database) });
  try {
    const keys = await store.listKeys();
    await present(ctx, keys, {
      terminal: () => (keys.length === 0 ? 'no keys\n' : terminalTable(ctx.io, COLUMNS, keys.map(aged(ctx)))),
      plain: () => plainRows(keys.map(key => [...account(key), key.createdAt, key.lastUsedAt ?? ''])),
    });
    return EXIT.ok;
  } finally {
    await store.close();
  }
}

function aged({ clock }: Context): (key: LocalKey) => string[] {
  const age = (time: string | null): string => (time === null ? 'never' : ageOf(time, clock.now()));
  return key => [...account(key), age(key.createdAt), age(key.lastUsedAt)];
}

function account({ id, user, plan, credits }: LocalKey): string[] {
  return [id, user, plan, String(credits)];
}
