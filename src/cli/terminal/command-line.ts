import type { Env } from '../../utils/env.ts';
import type { FormatCommand } from '../core/failure.ts';
import type { GlobalOptions } from '../core/global-options.ts';
import { escapeControls, toOneLine } from './sanitise.ts';

/**
 * A shell with its own quoting rules. Windows PowerShell 5 passes quotes to programs differently
 * from its successor.
 */
export type Shell = 'posix' | 'cmd' | 'powershell' | 'windows-powershell' | 'any-of-windows';

/**
 * Returns the shell that a command was typed in, judged by its environment or else by the platform.
 */
export function detectShell(env?: Env, platform: NodeJS.Platform = process.platform): Shell {
  if (platform !== 'win32') return 'posix';
  if (env === undefined) return 'any-of-windows';
  // Git Bash and the like set these.
  if (env['MSYSTEM'] !== undefined || env['SHELL'] !== undefined) return 'posix';
  // Only cmd.exe has a prompt in its environment.
  if (env['PROMPT'] !== undefined) return 'cmd';
  return env['POWERSHELL_DISTRIBUTION_CHANNEL'] === undefined ? 'windows-powershell' : 'powershell';
}

const UNQUOTED_WORD = /^[A-Za-z0-9_%+:,./-][A-Za-z0-9_%+:,./@=-]*$/u;

/**
 * Matches words without special characters of cmd.exe or PowerShell, which splits `-a.b` and `-a:b`
 * into two words.
 */
const PLAIN_ON_WINDOWS = /^(?!-[^-].*[.:])[A-Za-z0-9_+:./\\-][A-Za-z0-9_+:./\\=-]*$/u;

/**
 * Returns a word as a user types it at a shell, quoted if it has special characters. Line breaks
 * and control characters are escaped; cmd.exe can't escape them and gets one line.
 */
export function toShellWord(word: string, shell: Shell = detectShell()): string {
  if (shell === 'posix') return toPosixWord(word);
  if (PLAIN_ON_WINDOWS.test(word)) return word;
  if (shell === 'cmd') return toCmdWord(toOneLine(word));

  // Both shells parse such a word in the same way.
  if (shell === 'any-of-windows' && !/["%!$`\\]$|["%!$`]/u.test(toOneLine(word))) {
    return `"${toOneLine(word)}"`;
  }

  return hasControls(word)
    ? toPowerShellExpression(quoteProgramArgument(shell, word))
    : toPowerShellWord(word, shell);
}

/** Returns true if a shell has a way to write a word. */
export function isWritable(word: string, shell: Shell = detectShell()): boolean {
  if (word.includes('\0')) return false;
  return shell !== 'cmd' || !hasControls(word);
}

/** Returns a word in quotes, even if it needs none. */
export function quoteWord(word: string, shell: Shell = detectShell()): string {
  if (shell === 'posix') return quoteForPosix(word);
  return shell === 'cmd' ? toCmdWord(word) : toPowerShellWord(word, shell);
}

function toPosixWord(word: string): string {
  if (UNQUOTED_WORD.test(word)) return word;
  return hasControls(word) ? quoteAsAnsi(word) : quoteForPosix(word);
}

function quoteForPosix(word: string): string {
  return `'${word.replaceAll("'", String.raw`'\''`)}'`;
}

function hasControls(text: string): boolean {
  return /[\t\n]/u.test(text) || escapeControls(text) !== text;
}

/**
 * Returns a word as `$'…'` with octal bytes for everything but plain text, so that the locale does
 * not matter.
 */
function quoteAsAnsi(word: string): string {
  const characters = Array.from(word, character =>
    hasControls(character) || "'\\!".includes(character) ? escapeAsOctal(character) : character,
  );
  return `$'${characters.join('')}'`;
}

function escapeAsOctal(character: string): string {
  return [...Buffer.from(character)].map(byte => `\\${byte.toString(8).padStart(3, '0')}`).join('');
}

/**
 * Returns a word for cmd.exe, which parses it twice if npm installed promptrun as a batch file.
 * Quotes protect everything but `%` and `!`; a quote is written as two, so that what follows it is
 * still quoted.
 */
function toCmdWord(word: string): string {
  const parts = word.split(/([%!])/u).map((part, index) => {
    if (index % 2 === 1) return `^${part}`;
    return part === '' ? '' : `"${withBackslashesDoubled(part).replaceAll('"', '""')}"`;
  });
  return parts.join('') || '""';
}

/** Returns a word for PowerShell in single quotes, which expand nothing. */
function toPowerShellWord(word: string, shell: Shell): string {
  return `'${quoteProgramArgument(shell, word).replace(/['\u2018\u2019\u201a\u201b]/gu, '$&$&')}'`;
}

/**
 * Returns an expression with character codes, because the escapes of PowerShell's two versions
 * differ.
 */
function toPowerShellExpression(word: string): string {
  const parts = Array.from(word, character =>
    hasControls(character)
      ? `[char]::ConvertFromUtf32(${character.codePointAt(0) ?? 0})`
      : `'${character.replace(/['\u2018\u2019\u201a\u201b]/u, '$&$&')}'`,
  );
  return `([string]::Concat(${parts.join(',').replaceAll(`','`, '')}))`;
}

/**
 * Returns a word that a program receives unchanged. Windows PowerShell escapes no quotes and drops
 * empty words.
 */
function quoteProgramArgument(shell: Shell, word: string): string {
  if (shell !== 'windows-powershell') return word;
  if (word === '') return '""';
  const escaped = withQuotesEscaped(word);
  // Windows PowerShell quotes only words that contain a blank.
  return /\s/u.test(word)
    ? escaped
    : escaped.slice(0, escaped.length - countTrailingBackslashes(word));
}

function countTrailingBackslashes(text: string): number {
  let start = text.length;
  while (text[start - 1] === '\\') start -= 1;
  return text.length - start;
}

/** Escapes quotes for Windows programs, which read a backslash as an escape only before a quote. */
function withQuotesEscaped(word: string): string {
  return withBackslashesDoubled(word).replaceAll('"', String.raw`\"`);
}

/** Doubles backslashes before a quote, and at the end, where a quote follows. */
function withBackslashesDoubled(word: string): string {
  return word
    .split('"')
    .map(part => part + '\\'.repeat(countTrailingBackslashes(part)))
    .join('"');
}

/**
 * Returns a command line that reads a file from standard input. PowerShell has no `<`; both shells
 * of Windows have `type`.
 */
export function withStdinFrom(file: string, command: string, shell: Shell = detectShell()): string {
  const word = toShellWord(file, shell);
  return shell === 'posix' ? `${command} < ${word}` : `type ${word} | ${command}`;
}

export type ServiceFlags = Partial<Pick<GlobalOptions, 'profile' | 'baseUrl' | 'insecureHttp'>>;

/** Returns a function that builds command lines for the service of these flags. */
export function createAdvise(flags: ServiceFlags, env: Env): FormatCommand {
  const shell = detectShell(env);
  const serviceFlags = toServiceWords(flags);
  return (...words) =>
    ['promptrun', ...words, ...serviceFlags].map(word => toShellWord(word, shell)).join(' ');
}

export function toServiceWords({ profile, baseUrl, insecureHttp }: ServiceFlags): string[] {
  const words: string[] = [];
  if (profile !== undefined) words.push('--profile', profile);
  if (baseUrl !== undefined) words.push('--base-url', baseUrl);
  if (insecureHttp === true) words.push('--insecure-http');
  return words;
}
