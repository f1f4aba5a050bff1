import { stat } from 'node:fs/promises';
import path from 'node:path';
import type { Connection, Context } from '../context.ts';
import type { PublishedPrompt } from '../core/local-service.ts';
import { usageError } from '../errors.ts';
import { requireLocalService } from '../settings/config/address.ts';

/** What an alias stands for; any other name stands for itself. @throws {CliError} for an empty one */
export function aliasOrName(ctx: Context, target: string): string {
  const name = ctx.settings.aliases.get(target) ?? target;
  if (name.trim() !== '') return name;
  throw usageError('the target is empty', 'Give an alias, a prompt file, an id or a slug.');
}

/** Whether a name is that of a prompt file that exists. */
export async function isPromptFile(ctx: Context, name: string): Promise<boolean> {
  if (!name.endsWith('.prompt')) return false;
  const stats = await stat(path.resolve(ctx.cwd, name)).catch(() => undefined);
  return stats?.isFile() === true;
}

/**
 * The service that targets are looked for at. A prompt file is refused where another service than this machine's is
 * configured, before a key is looked for: none of that service would help.
 *
 * @throws {CliError} exit 2
 */
export async function connectionFor(ctx: Context, ...targets: readonly string[]): Promise<Connection> {
  for (const target of targets) {
    const name = aliasOrName(ctx, target);
    if (await isPromptFile(ctx, name)) requireLocalService(ctx, `the prompt file ${name}`);
  }
  return ctx.connection();
}

/** Publishes a prompt file to the local service. @throws {CliError} where another service is configured */
export async function publishFile(
  ctx: Context,
  connection: Pick<Connection, 'embedded'>,
  file: string,
): Promise<PublishedPrompt> {
  if (!connection.embedded) requireLocalService(ctx, `the prompt file ${file}`);
  const store = await ctx.local.open({ dataDir: ctx.dataDir });
  try {
    const published = await store.publish(path.resolve(ctx.cwd, file));
    if (published.changed)
      ctx.io.note(`note: published ${published.slug}, version ${published.promptVersionId}`);
    return published;
  } finally {
    await store.close();
  }
}
