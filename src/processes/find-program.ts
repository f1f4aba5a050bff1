import { accessSync, constants, statSync } from 'node:fs';
import path from 'node:path';
import { isLink } from '../files/writing/write-below.ts';
import type { Env } from '../utils/env.ts';
import { getErrorCode } from '../utils/error-utils.ts';
import { findDefined } from '../utils/find-defined.ts';
import { readVariable } from './program-environment.ts';

/**
 * Extensions that can be started: programs, and batch files by cmd.exe. The others in PATHEXT need
 * other programs.
 */
const STARTABLE_EXTENSIONS = ['.com', '.exe', '.bat', '.cmd'];

/**
 * Finds a program by its bare name in the absolute directories of PATH. Skips entries such as `.`,
 * because the working directory may be untrusted. Windows would even search it first.
 *
 * @returns the absolute path; undefined if there is none
 */
export function findProgram(
  name: string,
  env: Env,
  platform: NodeJS.Platform = process.platform,
): string | undefined {
  return findDefined(listPathDirectories(env, platform), directory =>
    findProgramAt(path.join(directory, name), env, platform),
  );
}

/**
 * Finds the program of a command line: a bare name in PATH, a path relative to the program's
 * working directory.
 *
 * @returns the absolute path; undefined if there is none
 */
export function resolveProgram(
  program: string,
  directory: string,
  env: Env,
  platform: NodeJS.Platform = process.platform,
): string | undefined {
  const isPath = program.includes('/') || (platform === 'win32' && /[\\:]/u.test(program));
  if (!isPath) return findProgram(program, env, platform);
  return findProgramAt(path.resolve(directory, program), env, platform);
}

/** Returns true if a program is a Windows batch file, which cmd.exe runs. */
export function isBatchFile(
  program: string,
  platform: NodeJS.Platform = process.platform,
): boolean {
  return platform === 'win32' && /\.(?:bat|cmd)$/iu.test(program);
}

function listPathDirectories(env: Env, platform: NodeJS.Platform): string[] {
  const { delimiter, isAbsolute } = platform === 'win32' ? path.win32 : path.posix;
  return (readVariable(env, 'PATH', platform) ?? '').split(delimiter).filter(isAbsolute);
}

/**
 * Returns the file of that name, on Windows also with an extension of PATHEXT; undefined if there
 * is none.
 */
function findProgramAt(file: string, env: Env, platform: NodeJS.Platform): string | undefined {
  const extensions = platform === 'win32' ? listWindowsExtensions(file, env) : [''];
  return extensions
    .map(extension => file + extension)
    .find(candidate => isProgram(candidate, platform));
}

function listWindowsExtensions(file: string, env: Env): string[] {
  const preferred = (readVariable(env, 'PATHEXT', 'win32') ?? STARTABLE_EXTENSIONS.join(';'))
    .toLowerCase()
    .split(';');
  const extensions = preferred.filter(extension => STARTABLE_EXTENSIONS.includes(extension));
  const hasExtension = STARTABLE_EXTENSIONS.includes(path.extname(file).toLowerCase());
  return hasExtension ? ['', ...extensions] : extensions;
}

/**
 * Returns true if a file can be started. Programs of the Microsoft Store are links that can't be
 * followed.
 */
function isProgram(file: string, platform: NodeJS.Platform): boolean {
  try {
    if (platform !== 'win32') accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch (error) {
    return platform === 'win32' && getErrorCode(error) !== 'ENOENT' && isLink(file);
  }
}
