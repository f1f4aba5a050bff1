import { type Stats, statSync } from 'node:fs';
import path from 'node:path';
import { getErrorCode, getErrorMessage } from '../../utils/error-utils.ts';
import type { Connection, Context } from '../context.ts';
import { usageError } from '../core/errors.ts';

/** The separator between a file and its revision. */
export const REVISION_MARK = '@git:';

export interface NamedPromptFile {
  /** The file as the command line names it, for messages. */
  readonly name: string;
  readonly path: string;
  /** The git revision of the file; undefined for the working copy. */
  readonly revision: string | undefined;
}

/**
 * Returns the target of an alias; any other name is returned unchanged.
 *
 * @throws {CliError} for an empty name
 */
export function resolveTargetAlias(ctx: Context, target: string): string {
  const name = ctx.settings.aliases.get(target) ?? target;
  if (name.trim() !== '') return name;
  throw usageError('the target is empty', 'Give an alias, a prompt file, an id or a slug.');
}

/** Matches a character of file names that no slug has. */
const FILE_NAME_CHARACTER = /[./\\]/u;

/**
 * The origin of a target. Only the user may name a revision, because git reads the configuration of
 * the file's folder.
 */
export type TargetSource = 'command line' | 'elsewhere';

/**
 * Returns the prompt file that a target names: an existing file of any form, or
 * `file@git:<revision>`.
 *
 * @throws {CliError} USAGE_ERROR for a revision that does not come from the command line
 */
export function findPromptFile(
  ctx: Context,
  target: string,
  source: TargetSource,
): NamedPromptFile | undefined {
  const file = findNamedPromptFile(ctx, target);
  if (file?.revision === undefined || source === 'command line') return file;
  throw usageError(
    `${file.name} names a git revision, which only the command line may name`,
    'Name the file itself.',
  );
}

/** @throws {CliError} USAGE_ERROR for a directory, a device and other irregular files */
function findNamedPromptFile(ctx: Context, target: string): NamedPromptFile | undefined {
  const name = resolveTargetAlias(ctx, target);
  const markIndex = name.lastIndexOf(REVISION_MARK);
  const file = markIndex < 0 ? name : name.slice(0, markIndex);
  if (!FILE_NAME_CHARACTER.test(file)) return undefined;

  const absolutePath = path.resolve(ctx.cwd, file);
  if (markIndex >= 0) {
    return { name, path: absolutePath, revision: name.slice(markIndex + REVISION_MARK.length) };
  }

  const stats = findStats(absolutePath, name);
  if (stats === undefined) return undefined;
  if (!stats.isFile()) {
    throw usageError(`${name} is ${describeIrregularFile(stats)}, not a prompt file`);
  }

  return { name, path: absolutePath, revision: undefined };
}

/** Returns the stats of a file; undefined if it doesn't exist. */
function findStats(file: string, name: string): Stats | undefined {
  try {
    return statSync(file, { throwIfNoEntry: false });
  } catch (error) {
    if (['ENAMETOOLONG', 'ENOTDIR'].includes(getErrorCode(error) ?? '')) return undefined;
    throw usageError(`${name} can't be read: ${getErrorMessage(error)}`);
  }
}

function describeIrregularFile(stats: Stats): string {
  if (stats.isDirectory()) return 'a directory';
  if (stats.isFIFO()) return 'a named pipe';
  return stats.isSocket() ? 'a socket' : 'a device';
}

/** Returns the service that runs a target. A prompt file always runs on this machine. */
export function getTargetConnection(ctx: Context, target: string): Promise<Connection> {
  return findNamedPromptFile(ctx, target) === undefined ? ctx.connection() : ctx.localConnection();
}
