import { homedir } from 'node:os';
import path from 'node:path';
import type { Env } from './programs.ts';

/** Returns the user's home directory; undefined if the system knows none, as for an account that has no entry. */
export function homeDirectory(env: Env): string | undefined {
  try {
    return env['HOME'] || env['USERPROFILE'] || homedir();
  } catch {
    return undefined;
  }
}

/** Returns the folder that a variable names. Ignores a relative one, as the specification of the XDG folders requires. */
export function folderIn(
  env: Env,
  variable: string,
  platform: NodeJS.Platform = process.platform,
): string | undefined {
  const { isAbsolute } = platform === 'win32' ? path.win32 : path;
  const folder = env[variable];
  return folder && isAbsolute(folder) ? folder : undefined;
}
