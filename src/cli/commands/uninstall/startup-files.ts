import { closeSync, fsyncSync, ftruncateSync, openSync, readFileSync, writeSync } from 'node:fs';
import path from 'node:path';
import { isUtf16 } from '../../../files/read-text.ts';
import { findHomeDirectory } from '../../../files/user-folders.ts';
import type { Env } from '../../../utils/env.ts';
import { COMPLETION_SETUPS } from '../../complete/completion-setups.ts';

/** A shell's start-up file that mentions promptrun. */
export interface StartupFile {
  readonly path: string;
  /** The numbers of the lines that install completion, from 1. */
  readonly ownLines: readonly number[];
  /** The other lines that mention promptrun. */
  readonly otherLines: readonly { readonly line: number; readonly text: string }[];
}

const OWN_LINES: ReadonlySet<string> = new Set(
  COMPLETION_SETUPS.flatMap(({ line, earlierLines }) => [line, ...earlierLines]),
);

/** The byte order mark as a character, and that of UTF-8 read as Latin-1. */
const BYTE_ORDER_MARKS = ['\uFEFF', '\u00EF\u00BB\u00BF'];

/** Returns the start-up files that mention promptrun. */
export function listStartupFiles(env: Env): StartupFile[] {
  return listCandidateFiles(env).flatMap(file => {
    const { lines: linesWithBreaks } = decodeStartupFile(readOrEmpty(file), 'utf8');
    const lines = linesWithBreaks.map(withoutLineBreak);
    if (!lines.some(line => line.includes('promptrun'))) return [];

    const ownLines = lines.flatMap((line, index) => (OWN_LINES.has(line) ? [index + 1] : []));
    const otherLines = lines.flatMap((line, index) =>
      line.includes('promptrun') && !OWN_LINES.has(line) ? [{ line: index + 1, text: line }] : [],
    );
    return [{ path: file, ownLines, otherLines }];
  });
}

/**
 * Removes the lines that install completion. The file is edited in place: its mode, and a link to
 * it, stay.
 */
export function removeOwnLines(file: string): void {
  const fileDescriptor = openSync(file, 'r+');
  try {
    const oldBytes = readFileSync(fileDescriptor);

    // With one byte per character, invalid UTF-8 stays unchanged.
    const { byteOrderMark, lines, encoding } = decodeStartupFile(oldBytes, 'latin1');
    const remainingLines = lines.filter(line => !OWN_LINES.has(withoutLineBreak(line)));
    const newBytes = Buffer.from(byteOrderMark + remainingLines.join(''), encoding);

    let offset = 0;
    while (offset < newBytes.length) {
      offset += writeSync(fileDescriptor, newBytes, offset, newBytes.length - offset, offset);
    }

    ftruncateSync(fileDescriptor, newBytes.length);
    fsyncSync(fileDescriptor);
  } finally {
    closeSync(fileDescriptor);
  }
}

interface StartupText {
  readonly byteOrderMark: string;
  /** The lines, each with its line break. */
  readonly lines: readonly string[];
  readonly encoding: BufferEncoding;
}

/** Decodes UTF-16 as such, anything else in `byteEncoding`. */
function decodeStartupFile(bytes: Buffer, byteEncoding: 'utf8' | 'latin1'): StartupText {
  const encoding = isUtf16(bytes) ? 'utf16le' : byteEncoding;
  const text = bytes.toString(encoding);
  const byteOrderMark = BYTE_ORDER_MARKS.find(mark => text.startsWith(mark)) ?? '';
  const lines = text.slice(byteOrderMark.length).split(/(?<=\n)/u);
  return { byteOrderMark, lines, encoding };
}

function withoutLineBreak(line: string): string {
  return line.replace(/\r?\n$/u, '');
}

function readOrEmpty(file: string): Buffer {
  try {
    return readFileSync(file);
  } catch {
    return Buffer.from('');
  }
}

function listCandidateFiles(env: Env): string[] {
  const home = findHomeDirectory(env);
  if (home === undefined) return [];

  const configFolder = getConfigFolder(env, home);
  const zshFolders = new Set([env['ZDOTDIR'] || home, home]);

  // The documents may be in OneDrive.
  const documentFolders = new Set(
    [home, env['OneDrive'] || home].map(folder => path.join(folder, 'Documents')),
  );
  const powerShellFolders = [
    path.join(configFolder, 'powershell'),
    ...[...documentFolders].flatMap(folder =>
      joinPaths(folder, ['PowerShell', 'WindowsPowerShell']),
    ),
  ];

  return [
    ...joinPaths(home, ['.bashrc', '.bash_profile', '.bash_login', '.profile']),
    ...[...zshFolders].flatMap(folder =>
      joinPaths(folder, ['.zshrc', '.zprofile', '.zshenv', '.zlogin']),
    ),
    path.join(configFolder, 'fish', 'config.fish'),
    getFishScriptPath(configFolder),
    ...powerShellFolders.flatMap(folder =>
      joinPaths(folder, ['Microsoft.PowerShell_profile.ps1', 'profile.ps1']),
    ),
  ];
}

/** Returns the file to which earlier versions wrote the script for fish. */
export function findFishScriptPath(env: Env): string | undefined {
  const home = findHomeDirectory(env);
  return home === undefined ? undefined : getFishScriptPath(getConfigFolder(env, home));
}

function getConfigFolder(env: Env, home: string): string {
  return env['XDG_CONFIG_HOME'] || path.join(home, '.config');
}

function getFishScriptPath(configFolder: string): string {
  return path.join(configFolder, 'fish', 'completions', 'promptrun.fish');
}

function joinPaths(folder: string, names: readonly string[]): string[] {
  return names.map(name => path.join(folder, name));
}
