import path from 'node:path';
import type { Env } from '../utils/env.ts';
import { readVariable } from './program-environment.ts';

/** Returns the full path of a Windows system program, such as `cmd.exe`. */
export function getWindowsProgramPath(name: string, env: Env): string {
  return path.win32.join(
    readVariable(env, 'SYSTEMROOT', 'win32') ?? 'C:\\Windows',
    'System32',
    name,
  );
}

/** Returns the shell for command lines that the user wrote. */
export function getShellPath(env: Env, platform: NodeJS.Platform = process.platform): string {
  return platform === 'win32' ? getWindowsProgramPath('cmd.exe', env) : '/bin/sh';
}

/** The variable that keeps cmd.exe from searching the working directory first. */
export const NO_CURRENT_DIRECTORY_ENV = { NoDefaultCurrentDirectoryInExePath: '1' } as const;
