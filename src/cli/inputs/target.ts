import { stat } from 'node:fs/promises';
import path from 'node:path';
import { NotFoundError } from '../../client/errors.ts';
import { isUuid, MAX_QUERY_LENGTH, type PromptVersion } from '../../wire/index.ts';
import type { Connection, Context } from '../context.ts';
import { didYouMean } from '../core/nearest.ts';
import { type CliError, notFoundError, usageError } from '../errors.ts';
import { isLoopback } from '../settings/config/address.ts';
import { oneLine } from '../terminal/sanitise.ts';

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

/** Publishes a prompt file to the local service and gives the version it became. */
export async function publishFile(ctx: Context, connection: Connection, file: string): Promise<string> {
  // A `promptrun serve` of this machine has the same store.
  if (!connection.embedded && !isLoopback(new URL(connection.baseUrl).hostname)) {
    throw usageError(
      `${file} is a prompt file: the local service can run it, ${new URL(connection.baseUrl).host} can't`,
      'Run it without a profile or base URL, or give the id of a published prompt.',
    );
  }
  const store = await ctx.local.open({ dataDir: ctx.dataDir });
  try {
    const published = await store.publish(file);
    if (published.changed)
      ctx.io.note(`note: published ${published.slug}, version ${published.promptVersionId}`);
    return published.promptVersionId;
  } finally {
    await store.close();
  }
}

/** The latest version of the prompt whose slug is exactly this. @throws {CliError} exit 4 where there is none */
export async function findSlug(connection: Connection, slug: string, signal: AbortSignal): Promise<string> {
  const words = slug.trim();
  if (words.length > MAX_QUERY_LENGTH) throw noSuchPrompt(slug, []);
  const { rows } = await connection.client.prompts.search(words, { signal });
  const versions = new Set(rows.filter(row => row.slug === words).map(row => row.promptVersionId));
  const [version] = versions;
  if (version === undefined) {
    throw noSuchPrompt(
      slug,
      rows.map(row => row.slug),
    );
  }
  if (versions.size > 1) {
    throw usageError(`several prompts are called ${slug}`, `Give the id of one: ${[...versions].join(', ')}`);
  }
  return version;
}

function noSuchPrompt(slug: string, found: readonly string[]): CliError {
  const file = slug.endsWith('.prompt') ? ', and no such file' : '';
  return notFoundError(
    `there is no prompt ${JSON.stringify(slug)}${file}${didYouMean(slug, found)}`,
    'Find prompts with: promptrun prompts search <words>',
  );
}
