import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import path from 'node:path';
import { createTemporaryDirectory } from './context.ts';
import { buildCommandEnvironment } from './environment.ts';

/** The command under test: this clone's, or an installed one that the environment names. */
export const COMMAND =
  process.env['PROMPTRUN_COMMAND'] ?? path.resolve(import.meta.dirname, '../../bin/promptrun.js');

export interface CommandOptions {
  /** Added to a bare environment whose directories are the test's own. */
  readonly env?: Readonly<Record<string, string>>;
  /** The test's directory, such as that of an earlier call; a new one by default. */
  readonly home?: string;
  /** The working directory; `home` by default. */
  readonly cwd?: string;
  /**
   * The content of standard input; default empty. `{ open: true }` leaves it open without writing
   * anything.
   */
  readonly stdin?: string | Uint8Array | { readonly open: true };
  /** Another build than `COMMAND`. */
  readonly command?: string;
  /** Flags for Node itself. */
  readonly nodeArgs?: readonly string[];
}

export interface CommandOutcome {
  readonly stdout: string;
  readonly stdoutBytes: Buffer;
  readonly stderr: string;
  /** null where a signal ended it. */
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly home: string;
}

/** The built command as a separate process. */
export interface RunningCommand {
  readonly child: ChildProcessWithoutNullStreams;
  readonly home: string;
  readonly stdout: () => string;
  readonly stderr: () => string;
  /** Resolves once standard output matches; rejects if the command ends before. */
  readonly untilStdout: (pattern: RegExp) => Promise<RegExpExecArray>;
  readonly untilStderr: (wanted: RegExp) => Promise<RegExpExecArray>;
  readonly ended: Promise<CommandOutcome>;
}

/** Runs the built command to its end, in its own directories. */
export function runCommand(
  args: readonly string[],
  options: CommandOptions = {},
): Promise<CommandOutcome> {
  return startCommand(args, options).ended;
}

/**
 * Starts the built command, in its own directories; a command still running at the end of a test is
 * the test's fault.
 */
export function startCommand(
  args: readonly string[],
  options: CommandOptions = {},
): RunningCommand {
  const home = options.home ?? createTemporaryDirectory();
  const child = spawn(
    process.execPath,
    [...(options.nodeArgs ?? []), options.command ?? COMMAND, ...args],
    {
      cwd: options.cwd ?? home,
      env: buildCommandEnvironment(home, options.env),
    },
  );
  const stdout = watch(child, 'stdout');
  const stderr = watch(child, 'stderr');
  child.stdin.on('error', () => {}); // a command that does not read may be gone before it is written to
  const { stdin = '' } = options;
  if (typeof stdin === 'string' || stdin instanceof Uint8Array) child.stdin.end(stdin);
  const ended = new Promise<CommandOutcome>((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code, signal) => {
      const stdoutBytes = stdout.bytes();
      resolve({ stdout: stdout.text(), stdoutBytes, stderr: stderr.text(), code, signal, home });
    });
  });

  return {
    child,
    home,
    ended,
    stdout: stdout.text,
    stderr: stderr.text,
    untilStdout: stdout.until,
    untilStderr: stderr.until,
  };
}

function watch(
  child: ChildProcessWithoutNullStreams,
  name: 'stdout' | 'stderr',
): {
  text: () => string;
  bytes: () => Buffer;
  until: (pattern: RegExp) => Promise<RegExpExecArray>;
} {
  const pieces: Buffer[] = [];
  const stream = child[name];
  stream.on('data', (piece: Buffer) => pieces.push(piece));
  const bytes = (): Buffer => Buffer.concat(pieces);
  const text = (): string => bytes().toString('utf8');

  const until = (pattern: RegExp): Promise<RegExpExecArray> =>
    new Promise((resolve, reject) => {
      const look = (): void => {
        const match = pattern.exec(text());
        if (match === null) return;
        stream.off('data', look);
        resolve(match);
      };

      stream.on('data', look);
      child.on('close', () =>
        reject(new Error(`ended without ${String(pattern)} on ${name}: ${text()}`)),
      );
      look();
    });

  return { text, bytes, until };
}
