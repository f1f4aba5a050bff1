import { EventEmitter } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Readable } from 'node:stream';
import { onTestFinished } from 'vitest';
import type { Context } from '../../src/cli/context.ts';
import type { Clock } from '../../src/cli/core/clock.ts';
import type { GlobalOptions } from '../../src/cli/core/global-options.ts';
import type { LocalService } from '../../src/cli/core/local-service.ts';
import type { Prompter } from '../../src/cli/questions/question.ts';
import { runCli } from '../../src/cli/run-cli.ts';
import { createContext, type HostEnvironment } from '../../src/cli/runtime/create-context.ts';
import type { EndingSignal } from '../../src/cli/runtime/signals.ts';
import { createPlainIo, type Sink } from '../../src/cli/terminal/io.ts';
import type { Env } from '../../src/utils/env.ts';
import { buildEnvironmentWithin } from './environment.ts';
import { isPosix } from './system.ts';

export interface TestOptions {
  /** Added to a bare environment whose directories are the test's own. */
  readonly env?: Env;
  /** The streams that are terminals; default none. */
  readonly terminal?: {
    readonly stdin?: boolean;
    readonly stdout?: boolean;
    readonly stderr?: boolean;
  };
  /** Columns of the terminal; 80 by default. */
  readonly columns?: number;
  /** The content of standard input; may stay unset if it is never read. */
  readonly stdin?: string | Uint8Array | Readable;
  readonly clock?: Partial<Clock>;
  /** The local service; none by default: asking for it is then an error. */
  readonly local?: Partial<LocalService>;
  /** The test's directory, such as that of an earlier call; a new one by default. */
  readonly home?: string;
  /**
   * The number of bytes that the reader of standard output takes before it goes; it stays by
   * default.
   */
  readonly readerTakes?: number;
  /** True if standard output is a full disk after that, not a reader that goes. */
  readonly isDiskFull?: boolean;
  /** Called with each piece that is written to standard output. */
  readonly onStdout?: (piece: Buffer) => void;
}

/** The outcome of a command. */
export interface Captured {
  readonly stdout: () => string;
  readonly stdoutBytes: () => Buffer;
  readonly stderr: () => string;
  /**
   * Holds everything the command may write: configuration, data, state and its working directory.
   */
  readonly home: string;
  /** Sends a signal to the command. */
  readonly raise: (signal: EndingSignal) => void;
  /** The signals the command sent to itself. */
  readonly killed: readonly EndingSignal[];
  /** The codes with which the command ended its process by itself. */
  readonly exited: readonly number[];
}

/** A command line run in this process. */
export interface CommandResult extends Captured {
  readonly exitCode: number;
}

/** A context as commands get it, and what they write to it. */
export interface TestContext extends Captured {
  readonly ctx: Context;
  /** Closes connections; done at the end of the test by itself. */
  readonly close: () => Promise<void>;
}

/** The time at which tests begin, in milliseconds. */
export const TEST_NOW = Date.UTC(2026, 0, 2, 3, 4, 5);

const DEFAULT_GLOBALS: GlobalOptions = {
  insecureHttp: false,
  allowOutside: false,
  allowPrivate: false,
  json: false,
  quiet: false,
  debug: false,
  debugBody: false,
  color: true,
  input: true,
  spinner: true,
  pager: true,
};

const NO_LOCAL_SERVICE: LocalService = {
  start: failOn('start'),
  serve: failOn('serve'),
  withStore: failOn('withStore'),
  isInUse: failOn('isInUse'),
};

/** Parses and runs a whole command line in this process, with captured streams. */
export async function runInProcess(
  argv: readonly string[],
  options: TestOptions = {},
): Promise<CommandResult> {
  const { surroundings, captured } = createSurroundings(options);
  const exitCode = await runCli(argv, surroundings);
  return { ...captured, exitCode };
}

/** Starts a whole command line in this process without waiting for its end, to send it signals. */
export function startInProcess(
  argv: readonly string[],
  options: TestOptions = {},
): Captured & { readonly ended: Promise<number> } {
  const { surroundings, captured } = createSurroundings(options);
  return { ...captured, ended: runCli(argv, surroundings) };
}

/** Returns a context for a command that is called directly. */
export async function testContext(
  options: TestOptions & {
    readonly globals?: Partial<GlobalOptions>;
    readonly prompter?: Prompter;
  } = {},
): Promise<TestContext> {
  const { surroundings, captured } = createSurroundings(options);
  const io = createPlainIo(surroundings.streams);
  const { ctx, close } = await createContext(
    surroundings,
    { ...DEFAULT_GLOBALS, ...options.globals },
    io,
  );
  onTestFinished(close);
  const { prompter } = options;

  return {
    ...captured,
    ctx: prompter === undefined ? ctx : { ...ctx, prompter: () => Promise.resolve(prompter) },
    close,
  };
}

/** Returns a clock that only sleeps move on: each is over at once. */
export function testClock(start: number = TEST_NOW): Clock {
  let now = start;
  return {
    now: () => now,
    random: () => 0.5,
    async sleep(ms, signal) {
      signal?.throwIfAborted();
      await new Promise(resolve => setImmediate(resolve));
      signal?.throwIfAborted();
      now += ms;
    },
  };
}

/** Returns a new directory, which is removed at the end of the test, or by another hook. */
export function createTemporaryDirectory(
  atEnd: (remove: () => void) => void = onTestFinished,
): string {
  const directory = mkdtempSync(path.join(tmpdir(), 'promptrun-test-'));
  atEnd(() => removeDirectory(directory));
  return directory;
}

/** Returns a new directory with these files, which is removed at the end of the test, or by another hook. */
export function createDirectoryWith(
  files: Readonly<Record<string, string | Uint8Array>>,
  atEnd?: (remove: () => void) => void,
): string {
  const home = createTemporaryDirectory(atEnd);
  for (const [name, content] of Object.entries(files)) {
    const file = path.join(home, name);
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, content);
  }
  return home;
}

/** Removes a temporary directory, in which a service of this process may have had its database. */
export function removeDirectory(directory: string): void {
  try {
    rmSync(directory, { recursive: true, force: true });
  } catch (error) {
    // Windows keeps a database open until this process ends; all directories are removed then.
    if (isPosix) throw error;
  }
}

function createSurroundings(options: TestOptions): {
  surroundings: HostEnvironment;
  captured: Captured;
} {
  const home = options.home ?? createTemporaryDirectory();
  const { terminal = {}, columns } = options;
  const stdout = createCapturingSink(terminal.stdout, columns, options);
  const stderr = createCapturingSink(terminal.stderr, columns);
  const signals = new EventEmitter();
  const killed: EndingSignal[] = [];
  const exited: number[] = [];
  const stdin = toStandardInput(options.stdin);

  return {
    captured: {
      home,
      killed,
      exited,
      stdout: () => stdout.bytes().toString('utf8'),
      stdoutBytes: stdout.bytes,
      stderr: () => stderr.bytes().toString('utf8'),
      raise: signal => signals.emit(signal, signal),
    },
    surroundings: {
      version: '0.0.0-test',
      streams: {
        stdout: stdout.sink,
        stderr: stderr.sink,
        stdinIsTerminal: terminal.stdin === true,
        stdin: () => stdin,
        releaseStdin: () => {},
      },
      env: { ...buildEnvironmentWithin(home), ...options.env },
      cwd: home,
      clock: { ...testClock(), ...options.clock },
      process: Object.assign(signals, {
        pid: process.pid,
        kill: (_pid: number, signal: EndingSignal) => killed.push(signal),
        platform: process.platform,
        exit: (code: number) => {
          exited.push(code);
          // Windows ends a process by its exit code.
          if (code > 128) killed.push(code === 130 ? 'SIGINT' : 'SIGTERM');
        },
      }),
      local: { ...NO_LOCAL_SERVICE, ...options.local },
    },
  };
}

/** Returns a function that fails the test, in place of one that its command should not call. */
function failOn(name: string): () => never {
  return () => {
    throw new Error(`the test gives no local service to ${name}`);
  };
}

function toStandardInput(content: TestOptions['stdin']): NodeJS.ReadStream {
  const stream =
    content instanceof Readable
      ? content
      : Readable.from(content === undefined ? [] : [Buffer.from(content)]);
  return stream as NodeJS.ReadStream;
}

function createCapturingSink(
  isTTY = false,
  columns = 80,
  { readerTakes = Number.POSITIVE_INFINITY, isDiskFull = false, onStdout }: TestOptions = {},
): { sink: Sink; bytes: () => Buffer } {
  const pieces: Buffer[] = [];
  let takenBytes = 0;
  const code = isDiskFull ? 'ENOSPC' : 'EPIPE';
  const sink: Sink = {
    isTTY,
    columns,
    rows: 24,
    on: () => undefined,
    write(data, done) {
      const piece = Buffer.from(data as string);
      pieces.push(piece.subarray(0, Math.max(0, readerTakes - takenBytes)));
      takenBytes += piece.length;
      onStdout?.(piece);
      const error =
        takenBytes > readerTakes ? Object.assign(new Error(`write ${code}`), { code }) : null;
      queueMicrotask(() => done?.(error));

      return true;
    },
  };

  return { sink, bytes: () => Buffer.concat(pieces) };
}
