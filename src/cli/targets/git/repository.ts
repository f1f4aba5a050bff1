import { existsSync, lstatSync, readFileSync, realpathSync, statSync } from 'node:fs';
import path from 'node:path';
import type { Env } from '../../../utils/env.ts';
import { usageError } from '../../core/errors.ts';
import { toPosixRelativePath } from '../../core/paths.ts';
import { detectShell, quoteIfNeeded } from '../../terminal/shell-words.ts';
import { isSafeDirectory } from './safe-directories.ts';

/** A repository in which git may be started. */
export interface Repository {
  /** The real path of the folder with `.git`. */
  readonly rootPath: string;
  /** The file's path relative to that folder, with `/`. */
  readonly relativePath: string;
}

/** Maximum size of a `.git` file, which holds one path, in bytes. */
const MAX_GIT_FILE_BYTES = 64 * 1024;

/**
 * Finds the repository of a file, which may no longer exist. Refuses untrusted repositories above
 * the file, because older versions of git would trust their configuration.
 *
 * @throws {CliError} USAGE_ERROR that names the folder at fault
 */
export function findRepository(file: string, env: Env): Repository {
  const realFolder = resolveExistingPath(path.dirname(file));
  for (let folder = realFolder; ; folder = path.dirname(folder)) {
    if (looksLikeBareRepository(folder)) {
      throw usageError(
        `${folder} looks like a bare git repository`,
        'A folder that came with other files may start programs when git reads it: move the file out of it.',
      );
    }
    if (existsSync(path.join(folder, '.git'))) {
      checkRepository(folder, env);
      return {
        rootPath: folder,
        relativePath: toPosixRelativePath(folder, path.join(realFolder, path.basename(file))),
      };
    }
    if (path.dirname(folder) === folder) throw usageError('it is not in a git repository');
  }
}

/** Returns the real path of a folder; some of its levels may be missing. */
function resolveExistingPath(folder: string): string {
  try {
    return realpathSync(folder);
  } catch (error) {
    const parent = path.dirname(folder);
    if (parent === folder) throw error;
    return path.join(resolveExistingPath(parent), path.basename(folder));
  }
}

/** Returns true if git would take a folder for a bare repository. */
function looksLikeBareRepository(folder: string): boolean {
  const contains = (name: string): boolean => hasEntry(path.join(folder, name));
  return contains('HEAD') && ((contains('objects') && contains('refs')) || contains('commondir'));
}

/** @throws {CliError} if `.git` leads to no repository, or belongs to another user */
function checkRepository(rootPath: string, env: Env): void {
  const gitEntry = path.join(rootPath, '.git');
  const directory = statSync(gitEntry).isDirectory() ? gitEntry : readLinkedDirectory(gitEntry);
  const commonDirectory = readCommonDirectory(directory);
  if (!hasEntry(path.join(directory, 'HEAD')) || !hasEntry(path.join(commonDirectory, 'objects'))) {
    throw noRepositoryError(gitEntry);
  }

  const foreignPath = [rootPath, gitEntry, directory, commonDirectory].find(
    entry => !belongsToUser(entry, env),
  );
  if (foreignPath === undefined || isSafeDirectory(rootPath, env)) return;

  throw usageError(
    `${foreignPath} belongs to another user`,
    `If you trust that repository: git config --global --add safe.directory ${quoteIfNeeded(rootPath, detectShell(env))}`,
  );
}

/** Returns the directory that the `.git` file of a linked worktree or a submodule names. */
function readLinkedDirectory(file: string): string {
  const [, target] = /^gitdir: (.+?)[\r\n]*$/u.exec(readSmallFile(file)) ?? [];
  if (target === undefined) throw noRepositoryError(file);
  return path.resolve(path.dirname(file), target);
}

/**
 * Returns the directory that a linked worktree shares with its repository; otherwise the directory
 * itself.
 */
function readCommonDirectory(directory: string): string {
  const file = path.join(directory, 'commondir');
  return hasEntry(file) ? path.resolve(directory, readSmallFile(file).trim()) : directory;
}

function readSmallFile(file: string): string {
  const stats = statSync(file);
  if (!stats.isFile() || stats.size > MAX_GIT_FILE_BYTES) {
    throw noRepositoryError(file);
  }
  return readFileSync(file, 'utf8');
}

function belongsToUser(file: string, env: Env): boolean {
  const userId = process.geteuid?.();
  if (userId === undefined) return true;
  // Like git: root through sudo may use repositories of the calling user.
  const { SUDO_UID: sudoUserId = '' } = env;
  const isSudo = userId === 0 && /^\d+$/u.test(sudoUserId);
  const trustedIds = isSudo ? [userId, Number(sudoUserId)] : [userId];
  return [lstatSync(file), statSync(file)].every(({ uid }) => trustedIds.includes(uid));
}

function hasEntry(file: string): boolean {
  return lstatSync(file, { throwIfNoEntry: false }) !== undefined;
}

function noRepositoryError(file: string): Error {
  return usageError(`${file} does not lead to a git repository`);
}
