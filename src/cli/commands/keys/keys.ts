import type { KeyView } from '../../../service/lifecycle/local-store.ts';
import type { Context } from '../../context.ts';
import { ageOf } from '../../core/time.ts';
import { notFoundError, usageError } from '../../errors.ts';
import { EXIT, type ExitCode } from '../../exit-codes.ts';
import { confirm, present } from '../../outputs/present.ts';
import { requireLocalService } from '../../settings/config/address.ts';
import { databaseUrl } from '../../settings/config/database.ts';
import { type Column, plainRows, terminalTable } from '../../terminal/table.ts';

interface Flags {
  readonly user?: string;
  readonly plan?: string;
  readonly credits?: string;
  readonly database?: string;
}

interface KeyOptions {
  readonly user?: string;
  readonly plan?: 'pro' | 'none';
  readonly credits?: number;
}

/** Creates a key of the local service and prints it, this once. */
export async function keysCreate(ctx: Context, { database, ...flags }: Flags): Promise<ExitCode> {
  const options = keyOptions(flags);
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

function keyOptions({ user, plan, credits }: Flags): KeyOptions {
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
    ...(user === undefined ? {} : { user }),
    ...(plan === undefined ? {} : { plan }),
    ...(credits === undefined ? {} : { credits: Number(credits) }),
  };
}

const COLUMNS: readonly Column[] = [
  { title: 'ID', min: 8 },
  { title: 'USER', min: 6 },
  { title: 'PLAN' },
  { title: 'CREDITS', align: 'right' },
  { title: 'CREATED', dropOrder: 1 },
  { title: 'LAST USED', dropOrder: 2 },
];

/** Lists the keys of the local service: whose they are and when they were used, never the keys themselves. */
export async function keysList(ctx: Context, { database }: { database?: string }): Promise<ExitCode> {
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

function aged({ clock }: Context): (key: KeyView) => string[] {
  const age = (time: string | null): string => (time === null ? 'never' : ageOf(time, clock.now()));
  return key => [...account(key), age(key.createdAt), age(key.lastUsedAt)];
}

function account({ id, user, plan, credits }: KeyView): string[] {
  return [id, user, plan, String(credits)];
}

/** Makes a key of the local service invalid. */
export async function keysRevoke(
  ctx: Context,
  id: string,
  { database }: { database?: string },
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
