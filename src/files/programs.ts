import { accessSync, constants, statSync } from 'node:fs';
import path from 'node:path';
import { codeOf } from './error-utils.ts';
import { isLink } from './write-below.ts';

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
  return absoluteDirectories(env, platform)
    .map(directory => programAt(path.join(directory, name), env, platform))
    .find(file => file !== undefined);
}

/**
 * Finds what a command line begins with: a bare name in PATH, a path from the directory in which the program is to run.
 *
 * @returns its absolute path; undefined if there is none
 */
export function resolveProgram(
  typed: string,
  directory: string,
  env: Env,
  platform: NodeJS.Platform = process.platform,
): string | undefined {
  const isPath = typed.includes('/') || (platform === 'win32' && /[\\:]/u.test(typed));
  if (!isPath) return findProgram(typed, env, platform);
  return programAt(path.resolve(directory, typed), env, platform);
}

/** Returns true for a batch file of Windows, which cmd.exe runs. */
export function isBatchFile(program: string, platform: NodeJS.Platform = process.platform): boolean {
  return platform === 'win32' && /\.(?:bat|cmd)$/iu.test(program);
}

/** Returns the full path of a program of Windows itself, such as `cmd.exe`. */
export function windowsProgram(name: string, env: Env): string {
  return path.win32.join(valueOf(env, 'SYSTEMROOT', 'win32') ?? 'C:\\Windows', 'System32', name);
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

/** The shell that reads a command line of the user's own. */
export function shellProgram(env: Env, platform: NodeJS.Platform = process.platform): string {
  return platform === 'win32' ? windowsProgram('cmd.exe', env) : '/bin/sh';
}

/** Keeps cmd.exe from looking for programs in the working directory first. */
export const NOT_FROM_HERE = { NoDefaultCurrentDirectoryInExePath: '1' } as const;

/** What Windows starts: programs by themselves, batch files by cmd.exe. The rest of PATHEXT needs other programs. */
const STARTABLE = ['.com', '.exe', '.bat', '.cmd'];

/** The file of that name, on Windows also with an ending of PATHEXT. */
function programAt(file: string, env: Env, platform: NodeJS.Platform): string | undefined {
  const endings = platform === 'win32' ? windowsEndings(file, env) : [''];
  return endings.map(ending => file + ending).find(whole => isProgram(whole, platform));
}

function windowsEndings(file: string, env: Env): string[] {
  const preferred = (valueOf(env, 'PATHEXT', 'win32') ?? STARTABLE.join(';')).toLowerCase().split(';');
  const endings = preferred.filter(ending => STARTABLE.includes(ending));
  return STARTABLE.includes(path.extname(file).toLowerCase()) ? ['', ...endings] : endings;
}

/** Names of variables have no case on Windows, where PATH is usually called `Path`. */
function valueOf(env: Env, name: string, platform: NodeJS.Platform): string | undefined {
  if (platform !== 'win32') return env[name];
  return Object.entries(env).find(([key]) => key.toUpperCase() === name)?.[1];
}

/** A program from the store of Windows, such as Python, is a link that only starting it can follow. */
function isProgram(file: string, platform: NodeJS.Platform): boolean {
  try {
    if (platform !== 'win32') accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch (error) {
    return platform === 'win32' && codeOf(error) !== 'ENOENT' && isLink(file);
  }
}
