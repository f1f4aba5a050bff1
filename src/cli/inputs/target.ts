import { stat } from 'node:fs/promises';
import path from 'node:path';
import { isUuid } from '../../wire/index.ts';
import type { Connection, Context } from '../context.ts';
import { notFoundError, usageError } from '../errors.ts';
import { findSlug } from './target-slug.ts';
import { publishFile } from './target-file.ts';

/** What a target stands for. */
export interface ResolvedTarget {
  readonly promptVersionId: string;
  /** True for a UUID that nobody has looked up: it may be a prompt's rather than a version's. */
  readonly mayBePrompt: boolean;
}

/** An alias, a prompt file, a UUID or a slug, tried in this order. Asks the service only for a slug. */
export async function resolveTarget(
  ctx: Context,
  connection: Connection,
  target: string,
): Promise<ResolvedTarget> {
  const name = ctx.settings.aliases.get(target) ?? target;
  if (name.trim() === '')
    throw usageError('the target is empty', 'give an alias, a prompt file, an id or a slug');
  if (await isPromptFile(ctx, name))
    return known(await publishFile(ctx, connection, path.resolve(ctx.cwd, name)));
  if (isUuid(name)) return { promptVersionId: name, mayBePrompt: true };
  return known(await findSlug(connection, name, ctx.signal));
}

/** The latest version of what turned out to be a prompt's id; says so. @throws {CliError} exit 4 where it is neither */
export async function resolveAsPrompt(
  ctx: Context,
  connection: Connection,
  id: string,
): Promise<ResolvedTarget> {
  const version = await latestVersion(connection, id, ctx.signal);
  if (version === undefined) {
    throw notFoundError(
      `there is no published prompt version or prompt ${id}`,
      'find prompts with: promptrun prompts search <words>',
    );
  }
  ctx.io.note(`note: ${id} is a prompt; running its latest version ${version}`);
  return known(version);
}

function known(promptVersionId: string): ResolvedTarget {
  return { promptVersionId, mayBePrompt: false };
}

async function latestVersion(
  connection: Connection,
  id: string,
  signal: AbortSignal,
): Promise<string | undefined> {
  const { NotFoundError } = await import('../../client/errors.ts');
  try {
    const version = await connection.client.prompts.get(id, { signal });
    connection.prompts.put(version);
    return version.promptVersionId;
  } catch (error) {
    if (error instanceof NotFoundError) return undefined;
    throw error;
  }
}

async function isPromptFile(ctx: Context, name: string): Promise<boolean> {
  if (!name.endsWith('.prompt')) return false;
  const stats = await stat(path.resolve(ctx.cwd, name)).catch(() => undefined);
  return stats?.isFile() === true;
}
