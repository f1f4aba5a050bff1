import { realpathSync } from 'node:fs';
import path from 'node:path';
import { readIfReadable } from '../../../files/read-text.ts';
import type { Env } from '../../../utils/env.ts';

/** Maximum number of settings in the environment. */
const MAX_SETTINGS = 1000;

/**
 * Returns true if the user's own git configuration lists a folder under `safe.directory`: the
 * global files and the GIT_CONFIG_* variables. As in git itself, the repository's configuration
 * doesn't count.
 *
 * @param folder the real path
 */
export function isSafeDirectory(folder: string, env: Env): boolean {
  let isSafe = false;
  for (const value of [
    ...listGlobalFiles(env).flatMap(readFileValues),
    ...readEnvironmentValues(env),
  ]) {
    const resetsList = value === '';
    if (resetsList) isSafe = false;
    if (!resetsList && matchesFolder(value, folder, env)) isSafe = true;
  }
  return isSafe;
}

function matchesFolder(value: string, folder: string, env: Env): boolean {
  if (value === '*') return true;
  const directory = value.startsWith('~/') ? path.join(env['HOME'] ?? '', value.slice(2)) : value;
  if (!path.isAbsolute(directory)) return false;
  if (directory.endsWith('/*')) {
    return folder.startsWith(path.join(resolveGitPath(directory.slice(0, -1)), path.sep));
  }
  return resolveGitPath(directory) === folder;
}

/** Returns the real path, as git does: on macOS, folders such as /tmp are links. */
function resolveGitPath(directory: string): string {
  try {
    return realpathSync.native(directory);
  } catch {
    return path.resolve(directory);
  }
}

function listGlobalFiles(env: Env): string[] {
  const { HOME: home, GIT_CONFIG_GLOBAL: globalFile, XDG_CONFIG_HOME: xdg } = env;
  if (globalFile !== undefined) return [globalFile];

  const files: string[] = [];
  const configFolder = xdg || (home ? path.join(home, '.config') : undefined);
  if (configFolder) files.push(path.join(configFolder, 'git', 'config'));
  if (home) files.push(path.join(home, '.gitconfig'));

  return files;
}

function readEnvironmentValues(env: Env): string[] {
  const count = Math.min(Number(env['GIT_CONFIG_COUNT'] ?? 0) || 0, MAX_SETTINGS);
  const numbers = Array.from({ length: count }, (_, index) => index);
  return numbers
    .filter(number => env[`GIT_CONFIG_KEY_${number}`]?.toLowerCase() === 'safe.directory')
    .map(number => env[`GIT_CONFIG_VALUE_${number}`] ?? '');
}

/** Returns the values of `safe.directory` in a git configuration file, without its includes. */
function readFileValues(file: string): string[] {
  const values: string[] = [];
  let isInSection = false;
  for (const line of (readIfReadable(file) ?? '').split(/\r?\n/u)) {
    const [, section, rest = line] = /^\s*\[([^\]]*)\](.*)$/u.exec(line) ?? [];
    if (section !== undefined) isInSection = section.trim().toLowerCase() === 'safe';
    const [, value] = /^directory\s*=(.*)$/iu.exec(rest.trim()) ?? [];
    if (isInSection && value !== undefined) values.push(unquoteSetting(value.trim()));
  }

  return values;
}

/** Removes quotes, escapes and the comment from a value. */
function unquoteSetting(value: string): string {
  const [, quoted] = /^"((?:[^"\\]|\\.)*)"/u.exec(value) ?? [];
  return quoted === undefined
    ? (value.split(/[#;]/u, 1)[0] ?? '').trimEnd()
    : quoted.replace(/\\(.)/gu, '$1');
}
