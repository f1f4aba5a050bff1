import type { Env } from '../utils/env.ts';
import { isBatchFile, resolveProgram } from './find-program.ts';
import { getWindowsProgramPath } from './system-programs.ts';

const LINE_BREAK_OR_NUL = /[\0\r\n]/u;

/**
 * Characters that quotes don't protect: cmd.exe expands `%NAME%` within quotes, and a batch file
 * parses its line again.
 */
const UNSAFE_IF_FILLED = /[%!"&|<>^\0\r\n]/u;

export interface ProgramStart {
  /** The program and its arguments, without a shell. */
  readonly argv: readonly [string, ...string[]];
  /** Indices in `argv` of words with filled-in, untrusted values. */
  readonly filledIndexes?: ReadonlySet<number> | undefined;
  /** The working directory, absolute. */
  readonly directory: string;
  readonly env: Env;
}

/** The arguments of `spawn` for a program. */
export interface ProgramLine {
  readonly file: string;
  readonly args: readonly string[];
  /** True if the arguments are quoted already, for Windows' command line. */
  readonly isQuoted: boolean;
}

/**
 * An argument that can't be passed to a batch file unchanged. The message names it and what to do.
 */
export class UnsafeArgumentError extends Error {
  readonly code = 'UNSAFE_ARGUMENT';
}

/**
 * Finds a program and returns how to start it: directly, or by cmd.exe for a Windows batch file.
 *
 * @throws {UnsafeArgumentError} if cmd.exe could read an argument differently
 * @throws {Error} if the program doesn't exist
 */
export function buildProgramLine(
  { argv: [program, ...args], filledIndexes, directory, env }: ProgramStart,
  platform: NodeJS.Platform = process.platform,
): ProgramLine {
  const programPath = resolveProgram(program, directory, env, platform);
  if (programPath === undefined) {
    const isPath = /[\\/]/u.test(program);
    throw new Error(
      isPath
        ? 'the file at that path is missing or not executable'
        : 'no program of that name in PATH',
    );
  }

  if (!isBatchFile(programPath, platform)) return { file: programPath, args, isQuoted: false };

  for (const [index, argument] of args.entries()) {
    const isFilled = filledIndexes?.has(index + 1) === true;
    const [unsafeCharacter] =
      (isFilled ? UNSAFE_IF_FILLED : LINE_BREAK_OR_NUL).exec(argument) ?? [];
    if (unsafeCharacter !== undefined) throw unsafeArgumentError(program, unsafeCharacter);
  }

  const line = [programPath, ...args].map(escapeForCmd).join(' ');
  return {
    file: getWindowsProgramPath('cmd.exe', env),
    args: ['/d', '/s', '/c', `"${line}"`],
    isQuoted: true,
  };
}

function unsafeArgumentError(program: string, unsafeCharacter: string): UnsafeArgumentError {
  const shownCharacter = LINE_BREAK_OR_NUL.test(unsafeCharacter) ? 'a line break' : unsafeCharacter;
  return new UnsafeArgumentError(
    `an argument of ${program} contains ${shownCharacter}, which cmd.exe could read differently; pass the text on standard input instead`,
  );
}

/** Quotes a word for Windows programs, and escapes every special character of cmd.exe. */
function escapeForCmd(word: string): string {
  const quoted = word.split('"').map(withBackslashesDoubledAtEnd).join(String.raw`\"`);
  return `"${quoted}"`.replace(/[()[\]%!^"`<>&|;, *?]/gu, '^$&');
}

/** Doubles backslashes at the end, because before a quote they are escapes. */
function withBackslashesDoubledAtEnd(text: string): string {
  let start = text.length;
  while (text[start - 1] === '\\') start -= 1;
  return text + text.slice(start);
}
