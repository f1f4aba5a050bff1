import { isUuid, type PromptVersion } from '../../wire/index.ts';
import type { Connection, Context } from '../context.ts';
import { notFoundError } from '../core/errors.ts';
import { requireLocalService } from '../settings/config/address.ts';
import { toOneLine } from '../terminal/sanitise.ts';
import { withLocalStore } from './embedded-store.ts';
import { ensureFileVersion, type VersionOverrides } from './file-version.ts';
import { unlessNotFound } from './not-found.ts';
import { findPromptFile, resolveTargetAlias, type TargetSource } from './prompt-file.ts';
import { formatFindHint, readPrompt, resolvePublishedName } from './prompt-name.ts';

/** The prompt version of a target. */
export interface ResolvedTarget {
  readonly promptVersionId: string;
  /** True for a UUID that was not looked up: it may be a prompt's id, not a version's. */
  readonly mayBePrompt: boolean;
  /** The config of the version, if the look-up returned it. */
  readonly config?: unknown;
  /** The estimate in the search row; only for a slug. */
  readonly estimatedCredits?: unknown;
}

/**
 * Resolves an alias, a prompt file, a UUID or a slug, in this order. Asks the service only for a
 * slug. Publishes nothing: a file, or another model, becomes an unlisted version.
 *
 * @param connection the result of `getTargetConnection`
 * @param options.source who wrote the target
 * @param options.model the model in place of the prompt's own
 * @param options.config the config in place of the prompt's own; used with a model only
 * @throws {CliError} USAGE_ERROR if a model is given for a service other than the embedded one;
 * exit 4 if the prompt doesn't exist
 */
export async function resolveTarget(
  ctx: Context,
  connection: Connection,
  target: string,
  { source, model, config }: TargetOptions,
): Promise<ResolvedTarget> {
  const file = findPromptFile(ctx, target, source);
  if (file !== undefined) {
    return { ...(await ensureFileVersion(ctx, file, { model, config })), mayBePrompt: false };
  }

  if (model !== undefined) requireLocalService(ctx, `the model ${model}`);
  const resolvedTarget = await resolveName(ctx, connection, resolveTargetAlias(ctx, target)).catch(
    async (error: unknown) => {
      const { withLikelyFile } = await import('./likely-file.ts');
      throw await withLikelyFile(ctx, { target, source }, error);
    },
  );
  if (model === undefined) return resolvedTarget;

  const { promptVersionId } = await withLocalStore(ctx, store =>
    store.ensureUnlistedVersion({ promptVersionId: resolvedTarget.promptVersionId, model, config }),
  );
  return { promptVersionId, config: resolvedTarget.config, mayBePrompt: false };
}

interface TargetOptions extends VersionOverrides {
  readonly source: TargetSource;
}

async function resolveName(
  ctx: Context,
  connection: Connection,
  name: string,
): Promise<ResolvedTarget> {
  if (isUuid(name)) return { promptVersionId: name, mayBePrompt: true };

  const foundPrompt = await resolvePublishedName(connection, name, ctx.signal);
  const {
    latestVersionId,
    promptVersionId = latestVersionId,
    config,
    estimatedCredits,
  } = foundPrompt;
  const isLatest = promptVersionId === latestVersionId;
  return { promptVersionId, mayBePrompt: false, estimatedCredits, ...(isLatest && { config }) };
}

/**
 * Returns the latest version for an id that turned out to be a prompt's, and says so in a note.
 *
 * @throws {CliError} exit 4 if it is neither
 */
export async function fetchLatestVersion(
  ctx: Context,
  connection: Connection,
  id: string,
): Promise<PromptVersion> {
  const version = await unlessNotFound(readPrompt(connection, { promptId: id }, ctx.signal));
  if (version === undefined) {
    throw notFoundError(
      `no published prompt or prompt version has the id ${id}`,
      formatFindHint(connection),
    );
  }

  ctx.io.note(
    `note: ${id} is a prompt; running its latest version ${toOneLine(version.promptVersionId)}`,
  );
  return version;
}

/**
 * Returns the version of a target with its config. Asks the service only if it was never read
 * before.
 */
export async function readVersion(
  ctx: Context,
  connection: Connection,
  { promptVersionId, mayBePrompt }: ResolvedTarget,
): Promise<PromptVersion> {
  const cachedVersion = connection.prompts.get(promptVersionId);
  if (cachedVersion !== undefined) return cachedVersion;

  const version = await unlessNotFound(
    connection.client.versions.get(promptVersionId, { signal: ctx.signal }),
  );
  if (version !== undefined) {
    connection.prompts.put(version);
    return version;
  }

  if (mayBePrompt) return fetchLatestVersion(ctx, connection, promptVersionId);
  throw notFoundError(`the published prompt version ${promptVersionId} does not exist`);
}
