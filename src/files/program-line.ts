import { isBatchFile, resolveProgram, windowsProgram } from './programs.ts';

type Env = Readonly<Record<string, string | undefined>>;

export interface ProgramStart {
  /** The program and its arguments; no shell reads them. */
  readonly argv: readonly [string, ...string[]];
  /** Positions in `argv` of what was filled in, and may say anything. */
  readonly filled?: ReadonlySet<number> | undefined;
  /** Where the program runs, absolute. */
  readonly directory: string;
  readonly env: Env;
}

/** What is handed to the system to start a program. */
export interface ProgramLine {
  readonly file: string;
  readonly args: readonly string[];
  /** The arguments are quoted already, as Windows has them: in one line. */
  readonly isQuoted: boolean;
}

/** An argument that can't be given to a batch file as it is. The message names it and what to do. */
export class UnsafeArgument extends Error {
  readonly code = 'UNSAFE_ARGUMENT';
}

/**
 * Finds a program and returns what starts it: itself, or cmd.exe for a batch file of Windows.
 *
 * @throws {UnsafeArgument} for an argument that cmd.exe could read differently
 * @throws {Error} if there is no such program
 */
export function programLine(
  { argv: [typed, ...args], filled, directory, env }: ProgramStart,
  platform: NodeJS.Platform = process.platform,
): ProgramLine {
  const program = resolveProgram(typed, directory, env, platform);
  if (program === undefined) {
    const isPath = /[\\/]/u.test(typed);
    throw new Error(isPath ? 'there is no such program' : 'there is no program of that name in PATH');
  }
  if (!isBatchFile(program, platform)) return { file: program, args, isQuoted: false };
  for (const [at, argument] of args.entries()) {
    const unsafe = (filled?.has(at + 1) === true ? UNSAFE_IF_FILLED : LINE_BREAK).exec(argument)?.[0];
    if (unsafe !== undefined) throw unsafeArgument(typed, unsafe);
  }
  const line = [program, ...args].map(escapedForCmd).join(' ');
  return { file: windowsProgram('cmd.exe', env), args: ['/d', '/s', '/c', `"${line}"`], isQuoted: true };
}

const LINE_BREAK = /[\0\r\n]/u;
/** Quoting does not help against these: cmd.exe replaces `%NAME%` in quotes, and a batch file reads its line again. */
const UNSAFE_IF_FILLED = /[%!"&|<>^\0\r\n]/u;

function unsafeArgument(program: string, unsafe: string): UnsafeArgument {
  const named = LINE_BREAK.test(unsafe) ? 'a line break' : unsafe;
  return new UnsafeArgument(
    `an argument of ${program} contains ${named}, which cmd.exe could read differently; pass the text on standard input instead`,
  );
}

/** A word in quotes as programs on Windows read them, with every character that cmd.exe reads escaped. */
function escapedForCmd(word: string): string {
  const quoted = word.split('"').map(withBackslashesDoubledAtEnd).join(String.raw`\"`);
  return `"${quoted}"`.replace(/[()[\]%!^"`<>&|;, *?]/gu, '^$&');
}

/** Backslashes count as an escape only before a quote. */
function withBackslashesDoubledAtEnd(text: string): string {
  let start = text.length;
  while (text[start - 1] === '\\') start -= 1;
  return text + text.slice(start);
}
