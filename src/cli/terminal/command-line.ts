import type { Env } from '../../utils/env.ts';
import type { FormatCommand } from '../core/failure.ts';
import type { GlobalOptions } from '../core/global-options.ts';
import { detectShell, quoteIfNeeded, type Shell } from './shell-words.ts';

/** The global flags that choose the service. */
export type ServiceFlags = Partial<Pick<GlobalOptions, 'profile' | 'baseUrl' | 'insecureHttp'>>;

/** Returns a function that formats command lines for the service of these flags. */
export function createCommandFormatter(flags: ServiceFlags, env: Env): FormatCommand {
  const shell = detectShell(env);
  const serviceFlags = formatServiceFlags(flags);
  return (...words) =>
    ['promptrun', ...words, ...serviceFlags].map(word => quoteIfNeeded(word, shell)).join(' ');
}

/** Returns the words of a command line that choose a service. */
export function formatServiceFlags({ profile, baseUrl, insecureHttp }: ServiceFlags): string[] {
  const words: string[] = [];
  if (profile !== undefined) words.push('--profile', profile);
  if (baseUrl !== undefined) words.push('--base-url', baseUrl);
  if (insecureHttp === true) words.push('--insecure-http');
  return words;
}

/**
 * Returns a command line that reads a file from standard input. PowerShell has no `<`; both shells
 * of Windows have `type`.
 */
export function withStdinFrom(file: string, command: string, shell: Shell = detectShell()): string {
  const word = quoteIfNeeded(file, shell);
  return shell === 'posix' ? `${command} < ${word}` : `type ${word} | ${command}`;
}
