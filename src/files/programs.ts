import { accessSync, constants, statSync } from 'node:fs';
import path from 'node:path';

type Env = Readonly<Record<string, string | undefined>>;

/**
 * Finds a program by its bare name in the absolute directories of PATH. An entry such as `.` is skipped: the working
 * directory may be a stranger's. Windows would even look there first.
 *
 * @returns its absolute path; undefined if there is none
 */
export function findProgram(
  name: string,
  env: Env,
  platform: NodeJS.Platform = process.platform,
): string | undefined {
  const endings = platform === 'win32' ? windowsEndings(name, env) : [''];
  return absoluteDirectories(env, platform)
    .flatMap(directory => endings.map(ending => path.join(directory, name + ending)))
    .find(file => isProgram(file, platform));
}

/** Returns the environment of a program that must not see a key, in any case of letters as Windows has it. */
export function environmentWithoutKeys(env: Env, keyVariables: Iterable<string>): Record<string, string> {
  const keys = new Set([...keyVariables].map(name => name.toUpperCase()));
  return Object.fromEntries(
    Object.entries(env).flatMap(([name, value]) => {
      const upper = name.toUpperCase();
      const isKept = value !== undefined && !upper.startsWith('PROMPTRUN_') && !keys.has(upper);
      return isKept ? [[name, value] as const] : [];
    }),
  );
}

function absoluteDirectories(env: Env, platform: NodeJS.Platform): string[] {
  const { delimiter, isAbsolute } = platform === 'win32' ? path.win32 : path.posix;
  return (valueOf(env, 'PATH', platform) ?? '').split(delimiter).filter(isAbsolute);
}

/** Node starts no `.bat` or `.cmd` without a shell, so only real programs count. */
function windowsEndings(name: string, env: Env): string[] {
  const all = (valueOf(env, 'PATHEXT', 'win32') ?? '.COM;.EXE').toLowerCase().split(';');
  const endings = all.filter(ending => ending === '.exe' || ending === '.com');
  return endings.some(ending => name.toLowerCase().endsWith(ending)) ? [''] : endings;
}

/** Names of variables have no case on Windows, where PATH is usually called `Path`. */
function valueOf(env: Env, name: string, platform: NodeJS.Platform): string | undefined {
  if (platform !== 'win32') return env[name];
  return Object.entries(env).find(([key]) => key.toUpperCase() === name)?.[1];
}

function isProgram(file: string, platform: NodeJS.Platform): boolean {
  try {
    if (platform !== 'win32') accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    return false;
  }
}
