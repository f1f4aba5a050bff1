import type { Command } from 'commander';
import type { Context, Host } from '../../context.ts';
import { usageError } from '../../errors.ts';
import { EXIT, type ExitCode } from '../../exit-codes.ts';
import { present } from '../../outputs/present.ts';
import { requireLocalService } from '../../settings/config/address.ts';
import { DATABASE_OPTION, databaseUrl } from '../../settings/config/database.ts';

interface Flags {
  readonly user?: string;
  readonly plan?: string;
  readonly credits?: string;
  readonly database?: string;
}

export interface KeysCreateOptions {
  readonly user?: string;
  readonly plan?: 'pro' | 'none';
  readonly credits?: number;
  /** A URL of PostgreSQL. */
  readonly database?: string;
}

const EXAMPLES = `
The key is printed once and kept as a hash only. A user who is new gets the plan and credits given.

Examples:
  promptrun keys create
  promptrun keys create --user ci --plan pro --credits 1000

A user has at most 10 keys at a time.`;

export function declareKeysCreate(command: Command, host: Host, run = keysCreate): void {
  command
    .option('--user <name>', 'whose key it is (default: local)')
    .option('--plan <plan>', "the user's plan: pro or none")
    .option('--credits <n>', "the user's credits")
    .option(...DATABASE_OPTION)
    .addHelpText('after', EXAMPLES)
    .action((flags: Flags) => host.runAction(command, ctx => run(ctx, keyOptions(flags))));
}

/** Creates a key of the local service and prints it, this once. */
export async function keysCreate(
  ctx: Context,
  { database, ...options }: KeysCreateOptions,
): Promise<ExitCode> {
  requireLocalService(ctx, 'keys create');
  const store = await ctx.local.open({ dataDir: ctx.dataDir, database: databaseUrl(ctx, database) });
  try {
    const created = await store.createKey(options);
    const text = (): string => `${created.key}\n`;
    await present(ctx, created, { terminal: text, plain: text });
    ctx.io.note(`Key ${created.id} of user ${created.user}; it is not shown again.`);
    return EXIT.ok;
  } finally {
    await store.close();
  }
}

function keyOptions({ user, plan, credits, database }: Flags): KeysCreateOptions {
  if (user !== undefined && !/^[\w.@-]{1,64}$/.test(user)) {
    throw usageError(
      `--user: '${user}' is not a name for a user`,
      'Letters, digits, dots, dashes, @ and underscores.',
    );
  }
  if (plan !== undefined && plan !== 'pro' && plan !== 'none') throw usageError("--plan is 'pro' or 'none'");
  if (credits !== undefined && !/^\d{1,12}(\.\d+)?$/.test(credits))
    throw usageError('--credits is a number from 0');
  return {
    ...(database === undefined ? {} : { database }),
    ...(user === undefined ? {} : { user }),
    ...(plan === undefined ? {} : { plan }),
    ...(credits === undefined ? {} : { credits: Number(credits) }),
  };
}
