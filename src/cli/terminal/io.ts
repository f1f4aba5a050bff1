import { writeSync } from 'node:fs';
import type { ChalkInstance } from 'chalk';
import { codeOf, toError } from '../../files/error-utils.ts';
import { CliError } from '../errors.ts';
import { EXIT } from '../exit-codes.ts';
import { visible, withoutHiddenControls } from './sanitise.ts';

/** Whether and how wide a stream is a terminal. */
export interface TerminalFacts {
  readonly isTerminal: boolean;
  /** Columns of the terminal; 80 where unknown. */
  readonly columns: number;
  /** Rows of the terminal; 24 where unknown. */
  readonly rows: number;
}

/** The streams of the process and what is known of them. */
export interface Io {
  readonly stdout: TerminalFacts;
  /** With the stream itself, for packages that draw on it. */
  readonly stderr: TerminalFacts & { readonly stream: NodeJS.WriteStream };
  readonly stdin: { readonly isTerminal: boolean; readonly stream: NodeJS.ReadStream };
  /** Writes results to standard output. False once the reader has gone: stop producing. */
  out(data: string | Uint8Array): Promise<boolean>;
  /** Returns false once nobody reads standard output any more, as far as that shows before something is written. */
  isRead(): boolean;
  /** Writes a line to standard error whatever `--quiet` says. */
  error(line: string): void;
  /** Writes a line to standard error; nothing with `--quiet`. */
  note(line: string): void;
  /** The same, but writes each line only once. */
  noteOnce(line: string): void;
  /** Writes later notes as comments of a shell, for a command whose standard error is a script. */
  commentNotes(): void;
  /** Writes to standard error as it is: spinners, questions, progress. */
  err(data: string): void;
  /** Colours for standard output, off if it takes none. */
  readonly paint: ChalkInstance;
  /** Colours for standard error. */
  readonly paintErr: ChalkInstance;
  /** Called before anything is written to either stream, so that a spinner can step aside; returns how to stop that. */
  beforeWrite(stepAside: () => void): () => void;
}

/** What is used of a stream that is written to. */
export interface Sink {
  readonly isTTY?: boolean | undefined;
  readonly fd?: number | undefined;
  readonly columns?: number | undefined;
  readonly rows?: number | undefined;
  write(data: string | Uint8Array, done?: (error?: Error | null) => void): boolean;
  on(event: 'error', listener: (error: Error) => void): unknown;
}

export interface Streams {
  readonly stdout: Sink;
  readonly stderr: Sink;
  readonly stdinIsTerminal: boolean;
  /** Touched only by a command that reads: opening standard input can hold a process up. */
  stdin(): NodeJS.ReadStream;
  /** Lets the process end although standard input is still open. */
  releaseStdin(): void;
}

/** The streams as a command gets them, before the flags are known: no `--quiet`, no colours. */
export type PlainIo = Omit<Io, 'note' | 'noteOnce' | 'commentNotes' | 'paint' | 'paintErr'>;

/** The standard streams of this process. */
export function processStreams(): Streams {
  let opened: NodeJS.ReadStream | undefined;
  return {
    stdout: process.stdout,
    stderr: process.stderr,
    // An import would load it for every command; off a terminal few ask.
    get stdinIsTerminal() {
      return process.getBuiltinModule('node:tty').isatty(0);
    },
    stdin: () => (opened ??= process.stdin),
    releaseStdin: () => {
      opened?.pause();
      opened?.unref?.();
    },
  };
}

/** Reads and writes the streams; nothing is opened before it is used. */
export function plainIo(streams: Streams): PlainIo {
  const hooks = new Set<() => void>();
  const stepAside = (): void => {
    for (const hook of hooks) hook();
  };
  streams.stderr.on('error', () => {}); // nobody is left to report to
  const write = resultWriter(streams.stdout);
  const writeNote = (text: string): void => {
    streams.stderr.write(streams.stderr.isTTY === true ? withoutHiddenControls(text) : text);
  };
  return {
    stdout: factsOf(streams.stdout),
    stderr: Object.assign(factsOf(streams.stderr), { stream: streams.stderr as NodeJS.WriteStream }),
    stdin: {
      get isTerminal() {
        return streams.stdinIsTerminal;
      },
      get stream() {
        return streams.stdin();
      },
    },
    out: data => {
      stepAside();
      const isText = typeof data === 'string' && streams.stdout.isTTY === true;
      return write(isText ? withoutHiddenControls(data) : data);
    },
    isRead: () => hasReader(streams.stdout),
    error: line => {
      stepAside();
      writeNote(`${line}\n`);
    },
    err: writeNote,
    beforeWrite: hook => {
      hooks.add(hook);
      return () => hooks.delete(hook);
    },
  };
}

/** Completes the streams with what the flags say. */
export function completeIo(
  io: PlainIo,
  options: { quiet: boolean; paint: ChalkInstance; paintErr: ChalkInstance },
): Io {
  // A note may name what came from a server, such as a run.
  let prefix = '';
  const note = (line: string): void => {
    if (!options.quiet) io.error(prefix + visible(line));
  };
  const noted = new Set<string>();
  return {
    ...io,
    note,
    noteOnce: line => {
      if (!noted.has(line)) note(line);
      noted.add(line);
    },
    commentNotes: () => {
      prefix = '# ';
    },
    paint: options.paint,
    paintErr: options.paintErr,
  };
}

/** Waits for each write, so that memory stays bounded and a reader that has gone is noticed. */
function resultWriter(stdout: Sink): (data: string | Uint8Array) => Promise<boolean> {
  let gone = false;
  stdout.on('error', () => {
    gone = true;
  });
  return async data => {
    if (gone || data.length === 0) return !gone;
    const error = await new Promise<Error | null | undefined>(done => stdout.write(data, done));
    if (error && !readerHasGone(error)) throw unwritable(error);
    if (error) gone = true;
    return !gone;
  };
}

/** A socket whose other end is closed refuses even nothing; a pipe takes that, and tells only at the next line. */
function hasReader({ fd, isTTY }: Sink): boolean {
  if (fd === undefined || isTTY === true || process.platform === 'win32') return true;
  try {
    writeSync(fd, new Uint8Array());
    return true;
  } catch (error) {
    return !readerHasGone(toError(error));
  }
}

function readerHasGone(error: Error): boolean {
  return ['EPIPE', 'ECONNRESET', 'ERR_STREAM_DESTROYED'].includes(codeOf(error) ?? '');
}

function unwritable(cause: Error): CliError {
  return new CliError(`standard output can't be written: ${cause.message}`, {
    status: 'FILE_ERROR',
    exitCode: EXIT.fault,
    cause,
  });
}

function factsOf(stream: Sink): TerminalFacts {
  return {
    isTerminal: stream.isTTY === true,
    get columns() {
      return stream.columns || 80;
    },
    get rows() {
      return stream.rows || 24;
    },
  };
}
