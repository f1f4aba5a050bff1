import type { Env } from '../../utils/env.ts';
import { escapeControls, toOneLine } from './sanitise.ts';

/**
 * A shell with its own quoting rules. Windows PowerShell 5 passes quotes to programs differently
 * from its successor.
 */
export type Shell = 'posix' | 'cmd' | 'powershell' | 'windows-powershell' | 'any-of-windows';

/** Matches words that a POSIX shell passes on unchanged. */
const PLAIN_POSIX_WORD = /^[A-Za-z0-9_%+:,./-][A-Za-z0-9_%+:,./@=-]*$/u;

/**
 * Matches words without special characters of cmd.exe or PowerShell, which splits `-a.b` and `-a:b`
 * into two words.
 */
const PLAIN_WINDOWS_WORD = /^(?!-[^-].*[.:])[A-Za-z0-9_+:./\\-][A-Za-z0-9_+:./\\=-]*$/u;

/** Matches the characters that end a PowerShell string in single quotes. */
const POWERSHELL_QUOTES = /['\u2018\u2019\u201a\u201b]/gu;

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

/**
 * Returns a word as a user types it at a shell, quoted if it has special characters. Line breaks
 * and control characters are escaped; cmd.exe can't escape them and gets one line.
 */
export function quoteIfNeeded(word: string, shell: Shell = detectShell()): string {
  const plainWord = shell === 'posix' ? PLAIN_POSIX_WORD : PLAIN_WINDOWS_WORD;
  if (plainWord.test(word)) return word;

  if (shell === 'posix') return hasControls(word) ? escapePosixWord(word) : quotePosixWord(word);
  if (shell === 'cmd') return quoteCmdWord(toOneLine(word));

  const line = toOneLine(word);
  if (shell === 'any-of-windows' && isSafeInDoubleQuotes(line)) return `"${line}"`;

  return hasControls(word) ? escapePowerShellWord(word, shell) : quotePowerShellWord(word, shell);
}

/** Returns a word in quotes, even if it needs none. */
export function quoteWord(word: string, shell: Shell = detectShell()): string {
  if (shell === 'posix') return quotePosixWord(word);
  return shell === 'cmd' ? quoteCmdWord(word) : quotePowerShellWord(word, shell);
}

/** Returns true if a shell has a way to write a word. */
export function isWritable(word: string, shell: Shell = detectShell()): boolean {
  if (word.includes('\0')) return false;
  return shell !== 'cmd' || !hasControls(word);
}

function hasControls(text: string): boolean {
  return /[\t\n]/u.test(text) || escapeControls(text) !== text;
}

/**
 * Returns true if cmd.exe and PowerShell read a text in double quotes in the same way: it has none
 * of their special characters, and no backslash before the closing quote.
 */
function isSafeInDoubleQuotes(text: string): boolean {
  return !/["%!$`]/u.test(text) && !text.endsWith('\\');
}

function quotePosixWord(word: string): string {
  return `'${word.replaceAll("'", String.raw`'\''`)}'`;
}

/**
 * Returns a word as `$'…'` with octal bytes for everything but plain text, so that the locale does
 * not matter.
 */
function escapePosixWord(word: string): string {
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
function quoteCmdWord(word: string): string {
  const pieces = word.split(/([%!])/u).map((piece, index) => {
    const isSeparator = index % 2 === 1;
    if (isSeparator) return `^${piece}`;
    return piece === '' ? '' : `"${withBackslashesDoubled(piece).replaceAll('"', '""')}"`;
  });
  return pieces.join('') || '""';
}

/** Returns a word for PowerShell in single quotes, which expand nothing. */
function quotePowerShellWord(word: string, shell: Shell): string {
  return `'${toProgramArgument(word, shell).replace(POWERSHELL_QUOTES, '$&$&')}'`;
}

/**
 * Returns an expression with character codes, because the escapes of PowerShell's two versions
 * differ.
 */
function escapePowerShellWord(word: string, shell: Shell): string {
  const strings = Array.from(toProgramArgument(word, shell), character =>
    hasControls(character)
      ? `[char]::ConvertFromUtf32(${character.codePointAt(0) ?? 0})`
      : `'${character.replace(POWERSHELL_QUOTES, '$&$&')}'`,
  );
  return `([string]::Concat(${strings.join(',').replaceAll(`','`, '')}))`;
}

/**
 * Returns the argument that a PowerShell has to pass on for a program to receive the word: Windows
 * PowerShell escapes no quotes and drops empty words.
 */
function toProgramArgument(word: string, shell: Shell): string {
  if (shell !== 'windows-powershell') return word;
  if (word === '') return '""';
  const escaped = withQuotesEscaped(word);
  // Windows PowerShell quotes only words that contain a blank.
  return /\s/u.test(word)
    ? escaped
    : escaped.slice(0, escaped.length - countTrailingBackslashes(word));
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

function countTrailingBackslashes(text: string): number {
  let start = text.length;
  while (text[start - 1] === '\\') start -= 1;
  return text.length - start;
}
