import path from 'node:path';
import { isUuid, type PromptVersion } from '../../wire/index.ts';
import type { Connection, Context } from '../context.ts';
import { notFoundError } from '../errors.ts';
import { oneLine } from '../terminal/sanitise.ts';
import { aliasOrName, isPromptFile, publishFile } from './prompt-file.ts';
import { findByName, HOW_TO_FIND, readPrompt, unlessNotFound } from './prompt-name.ts';

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
  const name = aliasOrName(ctx, target);
  if (await isPromptFile(ctx, name)) {
    const { promptVersionId } = await publishFile(ctx, connection, name);
    return { promptVersionId, mayBePrompt: false };
  }
  if (isUuid(name)) return { promptVersionId: name, mayBePrompt: true };
  const { promptVersionId, latest } = await findByName(connection, name, ctx.signal);
  return { promptVersionId: promptVersionId ?? latest, mayBePrompt: false };
}

/**
 * A target of this machine's own service with another model than its prompt names: a version that can be run and is
 * otherwise nowhere.
 */
export async function resolveWithModel(
  ctx: Context,
  connection: Connection,
  target: string,
  model: string,
): Promise<ResolvedTarget> {
  const name = aliasOrName(ctx, target);
  const wanted = (await isPromptFile(ctx, name))
    ? { file: path.resolve(ctx.cwd, name) }
    : { promptVersionId: (await resolveTarget(ctx, connection, name)).promptVersionId };
  const store = await ctx.local.open({ dataDir: ctx.dataDir });
  try {
    const { promptVersionId } = await store.ensureUnlistedVersion({ ...wanted, model });
    return { promptVersionId, mayBePrompt: false };
  } finally {
    await store.close();
  }
}

/** The latest version of what turned out to be a prompt's id; says so. @throws {CliError} exit 4 where it is neither */
export async function latestOfPrompt(
  ctx: Context,
  connection: Connection,
  id: string,
): Promise<PromptVersion> {
  const version = await unlessNotFound(readPrompt(connection, { promptId: id }, ctx.signal));
  if (version === undefined) {
    throw notFoundError(`there is no published prompt version or prompt ${id}`, HOW_TO_FIND);
  }
  ctx.io.note(`note: ${id} is a prompt; running its latest version ${oneLine(version.promptVersionId)}`);
  return version;
}

/** The version of a target with its config; asks the service only where it was never read. */
export async function readVersion(
  ctx: Context,
  connection: Connection,
  { promptVersionId, mayBePrompt }: ResolvedTarget,
): Promise<PromptVersion> {
  const cached = connection.prompts.get(promptVersionId);
  if (cached !== undefined) return cached;
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
