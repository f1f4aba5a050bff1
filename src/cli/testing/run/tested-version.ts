import type { Connection, Context } from '../../context.ts';
import { checkModelAccess } from '../../creation/creation-result.ts';
import { withLocalStore } from '../../targets/embedded-store.ts';
import type { VersionOverrides } from '../../targets/file-version.ts';
import { type ResolvedTarget, readVersion, resolveTarget } from '../../targets/resolve-target.ts';
import type { TestFile } from '../cases/test-case.ts';
import { findModelDeclaration } from './model-declaration.ts';

/** The version that a test file names, with one of its models. */
export interface TestedVersion {
  readonly promptVersionId: string;
  /** The estimate in the service's search results. */
  readonly estimatedCredits: unknown;
  /** The config with its inputs; undefined if they are unknown. */
  readonly config: unknown;
  /**
   * The entry of its model in the configuration, as JSON; undefined if the configuration has none.
   */
  readonly declaration: string | undefined;
}

/**
 * Resolves the version to test. In a replay, an unrecorded version is reported later, with the
 * nearest recording.
 */
export async function resolveTestedVersion(
  ctx: Context,
  connection: Connection,
  { target, promptText }: TestFile,
  { model, config }: VersionOverrides,
): Promise<TestedVersion> {
  const resolvedVersion =
    promptText === undefined
      ? await resolveTarget(ctx, connection, target, { source: 'elsewhere', model, config })
      : await resolvePromptText(ctx, { name: target, text: promptText }, { model, config });
  const pendingVersion = readVersion(ctx, connection, resolvedVersion);
  const isOptional = connection.recorder?.mode === 'replay' && !resolvedVersion.mayBePrompt;
  const version = isOptional ? await pendingVersion.catch(() => undefined) : await pendingVersion;
  const promptVersionId = version?.promptVersionId ?? resolvedVersion.promptVersionId;
  await checkModelAccess(connection, promptVersionId);

  return {
    promptVersionId,
    estimatedCredits: resolvedVersion.estimatedCredits,
    config: version?.config,
    declaration: await findModelDeclaration(ctx, promptVersionId),
  };
}

/** Returns the version of a prompt without its own file. */
export async function resolvePromptText(
  ctx: Context,
  { name, text }: { readonly name: string; readonly text: string },
  { model, config }: VersionOverrides,
): Promise<ResolvedTarget> {
  const request = { file: name, text, ...(model !== undefined && { model }), config };
  const { promptVersionId } = await withLocalStore(ctx, store =>
    store.ensureUnlistedVersion(request),
  );
  return { promptVersionId, mayBePrompt: false };
}
