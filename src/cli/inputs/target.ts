import { stat } from 'node:fs/promises';
import path from 'node:path';
import { NotFoundError } from '../../client/errors.ts';
import { isUuid, type PromptVersion } from '../../wire/index.ts';
import type { Connection, Context } from '../context.ts';
import { notFoundError, usageError } from '../errors.ts';
import { oneLine } from '../outputs/sanitise.ts';
import { publishFile } from './target-file.ts';
import { findSlug } from './target-slug.ts';

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
    throw usageError('the target is empty', 'Give an alias, a prompt file, an id or a slug.');
  if (await isPromptFile(ctx, name))
    return known(await publishFile(ctx, connection, path.resolve(ctx.cwd, name)));
  if (isUuid(name)) return { promptVersionId: name, mayBePrompt: true };
  return known(await findSlug(connection, name, ctx.signal));
}

/** The latest version of what turned out to be a prompt's id; says so. @throws {CliError} exit 4 where it is neither */
export async function latestOfPrompt(
  ctx: Context,
  connection: Connection,
  id: string,
): Promise<PromptVersion> {
  const version = await findPrompt(connection, id, ctx.signal);
  if (version === undefined) {
    throw notFoundError(
      `there is no published prompt version or prompt ${id}`,
      'Find prompts with: promptrun prompts search <words>',
    );
  }
  connection.prompts.put(version);
  ctx.io.note(`note: ${id} is a prompt; running its latest version ${oneLine(version.promptVersionId)}`);
  return version;
}

/** The version of a target with its config; asks the service only where it was never read. */
export async function readVersion(
  ctx: Context,
  connection: Connection,
  { promptVersionId, mayBePrompt }: ResolvedTarget,
): Promise<PromptVersion> {
  const kept = connection.prompts.get(promptVersionId);
  if (kept !== undefined) return kept;
  const version = await unlessNotFound(
    connection.client.versions.get(promptVersionId, { signal: ctx.signal }),
  );
  if (version !== undefined) {
    connection.prompts.put(version);
    return version;
  }
  if (mayBePrompt) return latestOfPrompt(ctx, connection, promptVersionId);
  throw notFoundError(`there is no published prompt version ${promptVersionId}`);
}

function findPrompt(
  connection: Connection,
  id: string,
  signal: AbortSignal,
): Promise<PromptVersion | undefined> {
  return unlessNotFound(connection.client.prompts.get(id, { signal }));
}

async function unlessNotFound<T>(asked: Promise<T>): Promise<T | undefined> {
  try {
    return await asked;
  } catch (error) {
    if (error instanceof NotFoundError) return undefined;
    throw error;
  }
}

function known(promptVersionId: string): ResolvedTarget {
  return { promptVersionId, mayBePrompt: false };
}

async function isPromptFile(ctx: Context, name: string): Promise<boolean> {
  if (!name.endsWith('.prompt')) return false;
  const stats = await stat(path.resolve(ctx.cwd, name)).catch(() => undefined);
  return stats?.isFile() === true;
}
