import type { Env } from '../core/types.ts';

/** Shells that read a command line differently. Windows PowerShell 5 hands quotes to programs otherwise than its successor. */
export type Shell = 'posix' | 'cmd' | 'powershell' | 'windows-powershell' | 'any-of-windows';

/** Returns the shell that a command was typed at, as far as its environment shows; without one, as far as the platform does. */
export function shellOf(env?: Env, platform: NodeJS.Platform = process.platform): Shell {
  if (platform === 'win32' && env === undefined) return 'any-of-windows';
  // Git Bash and the like set these.
  if (platform !== 'win32' || env === undefined || env['MSYSTEM'] !== undefined || env['SHELL'] !== undefined)
    return 'posix';
  // Only cmd.exe has a prompt in its environment.
  if (env['PROMPT'] !== undefined) return 'cmd';
  return env['POWERSHELL_DISTRIBUTION_CHANNEL'] === undefined ? 'windows-powershell' : 'powershell';
}
