import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import type { Context } from '../../context.ts';
import type { FlagsOf } from '../../core/command-spec.ts';
import { usageError } from '../../core/errors.ts';
import { explainUnknownName } from '../../core/unknown-name.ts';
import { reportOutcome } from '../../outputs/present.ts';
import { listStoredItems, type StoredItem } from '../../settings/stored-items.ts';
import type { RESET } from './spec.ts';

/** The parts that can be removed, each with the stored items that belong to it. */
const RESET_PARTS: Readonly<Record<string, readonly StoredItem['name'][]>> = {
  caches: ['resources', 'prompts'],
  journal: ['journal'],
  all: ['resources', 'prompts', 'journal', 'config', 'credentials'],
};

/** Removes a part of the stored data, after a confirmation. */
export async function reset(
  ctx: Context,
  part: string,
  { yes = false }: FlagsOf<typeof RESET.flags>,
): Promise<void> {
  const names = Object.hasOwn(RESET_PARTS, part) ? RESET_PARTS[part] : undefined;
  if (names === undefined) {
    throw usageError(...explainUnknownName('part', part, Object.keys(RESET_PARTS)));
  }

  const storedFiles = listStoredItems(ctx).filter(
    ({ name, path }) => names.includes(name) && existsSync(path),
  );
  const needsConfirmation = !yes && storedFiles.length > 0;
  if (needsConfirmation && !(await confirmReset(ctx, storedFiles))) {
    await reportOutcome(ctx, { removed: [] }, 'Nothing was removed.');
    return;
  }

  if (names.includes('credentials')) await forgetKeys(ctx);
  for (const { path } of storedFiles) await rm(path, { force: true });

  const removedPaths = storedFiles.map(({ path }) => path);
  const message =
    removedPaths.length === 0
      ? 'There is nothing to remove.'
      : `Removed ${removedPaths.join(', ')}`;
  await reportOutcome(ctx, { removed: removedPaths }, message);
}

async function confirmReset(ctx: Context, files: readonly StoredItem[]): Promise<boolean> {
  if (!ctx.isInteractive) {
    throw usageError('reset asks before it removes anything', 'Confirm it with --yes.');
  }

  for (const { path, holds } of files) ctx.io.note(`${path}: ${holds}`);
  const prompter = await ctx.prompter();
  const message = files.length === 1 ? 'Remove this file?' : `Remove these ${files.length} files?`;
  return prompter.confirm({ message, default: false }, ctx.signal);
}

/** Removes keys from the system's keychain, before the file that lists them is removed. */
async function forgetKeys({ settings: { credentials } }: Context): Promise<void> {
  try {
    for (const profile of credentials.listProfiles()) await credentials.forget(profile);
  } catch {
    // A damaged file lists no keys. It is removed anyway.
  }
}
