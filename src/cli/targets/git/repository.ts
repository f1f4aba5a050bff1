import { existsSync, lstatSync, readFileSync, realpathSync, statSync } from 'node:fs';
import path from 'node:path';
import { sharedPath } from '../../core/paths.ts';
import type { Env } from '../../core/types.ts';
import { usageError } from '../../errors.ts';
import { shellOf, shellWord } from '../../terminal/shell-word.ts';
import { isSafeDirectory } from './safe-directories.ts';

/** A repository that git may be started in. */
export interface Repository {
  /** The folder with `.git`, by its real path. */
  readonly top: string;
  /** The file's path from there, with `/`. */
  readonly file: string;
}

/** A `.git` file holds one path. */
const MOST_BYTES = 64 * 1024;

/**
 * Finds the repository of a file, which need not exist any more. What a stranger may have planted on the way is refused
 * here, since older versions of git would take its configuration for the user's.
 *
 * @throws {CliError} USAGE_ERROR that names the folder at fault
 */
export function findRepository(file: string, env: Env): Repository {
  const real = realPathOf(path.dirname(file));
  for (let folder = real; ; folder = path.dirname(folder)) {
    if (looksBare(folder)) {
      throw usageError(
        `${folder} looks like a bare git repository`,
        'A folder that came with other files may start programs when git reads it: move the file out of it.',
      );
    }
    if (existsSync(path.join(folder, '.git'))) {
      checkRepository(folder, env);
      return { top: folder, file: sharedPath(folder, path.join(real, path.basename(file))) };
    }
    if (path.dirname(folder) === folder) throw usageError('it is not in a git repository');
  }
}

/** The real path of a folder of which some levels may be missing. */
function realPathOf(folder: string): string {
  try {
    return realpathSync(folder);
  } catch (error) {
    const above = path.dirname(folder);
    if (above === folder) throw error;
    return path.join(realPathOf(above), path.basename(folder));
  }
}

/** Git takes any folder with these names for a repository of its own. */
function looksBare(folder: string): boolean {
  const has = (name: string): boolean => isThere(path.join(folder, name));
  return has('HEAD') && ((has('objects') && has('refs')) || has('commondir'));
}

/** @throws {CliError} for a `.git` that leads to no repository, and for one of somebody else */
function checkRepository(top: string, env: Env): void {
  const git = path.join(top, '.git');
  const directory = statSync(git).isDirectory() ? git : linkedDirectory(git);
  const common = commonDirectory(directory);
  if (!isThere(path.join(directory, 'HEAD')) || !isThere(path.join(common, 'objects'))) {
    throw leadsNowhere(git);
  }
  const foreign = [top, git, directory, common].find(one => !isOwn(one, env));
  if (foreign === undefined || isSafeDirectory(top, env)) return;
  throw usageError(
    `${foreign} belongs to another user`,
    `If you trust that repository: git config --global --add safe.directory ${shellWord(top, shellOf(env))}`,
  );
}

/** Where the `.git` file of a linked worktree or a submodule leads. */
function linkedDirectory(file: string): string {
  const [, target] = /^gitdir: (.+?)[\r\n]*$/u.exec(readSmallFile(file)) ?? [];
  if (target === undefined) throw leadsNowhere(file);
  return path.resolve(path.dirname(file), target);
}

/** The directory that a linked worktree shares with its repository; any other's own. */
function commonDirectory(directory: string): string {
  const file = path.join(directory, 'commondir');
  return isThere(file) ? path.resolve(directory, readSmallFile(file).trim()) : directory;
}

function readSmallFile(file: string): string {
  const stats = statSync(file);
  if (!stats.isFile() || stats.size > MOST_BYTES) {
    throw leadsNowhere(file);
  }
  return readFileSync(file, 'utf8');
}

function isOwn(file: string, env: Env): boolean {
  const user = process.geteuid?.();
  if (user === undefined) return true;
  // As git has it: root by sudo may use what belongs to who called it.
  const users = user === 0 && /^\d+$/u.test(env['SUDO_UID'] ?? '') ? [0, Number(env['SUDO_UID'])] : [user];
  return [lstatSync(file), statSync(file)].every(({ uid }) => users.includes(uid));
}

function isThere(file: string): boolean {
  return lstatSync(file, { throwIfNoEntry: false }) !== undefined;
}

function leadsNowhere(file: string): Error {
  return usageError(`${file} does not lead to a git repository`);
}
