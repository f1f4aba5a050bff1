import { writeSync } from 'node:fs';
import type { ChalkInstance } from 'chalk';
import { getErrorCode, toError } from '../../utils/error-utils.ts';
import { CliError } from '../core/errors.ts';
import { EXIT } from '../core/exit-codes.ts';
import { escapeControls, withoutHiddenControls } from './sanitise.ts';

/** The terminal behind a stream, if there is one, and its size. */
export interface TerminalFacts {
  readonly isTerminal: boolean;
  /** The width in columns; 80 if unknown. */
  readonly columns: number;
  /** The height in rows; 24 if unknown. */
  readonly rows: number;
}

/** The standard streams of the process, as commands use them. */
export interface Io {
  readonly stdout: TerminalFacts;
  /** Standard error, with the stream itself for packages that draw on it. */
  readonly stderr: TerminalFacts & { readonly stream: NodeJS.WriteStream };
  readonly stdin: { readonly isTerminal: boolean; readonly stream: NodeJS.ReadStream };
  /**
   * Writes results to standard output. Resolves to false once the reader is gone: stop producing.
   */
  out(data: string | Uint8Array): Promise<boolean>;
  /**
   * Returns false once standard output has no reader, if the system can detect that without a
   * write.
   */
  hasReader(): boolean;
  /** Writes a line to standard error, even with `--quiet`. */
  error(line: string): void;
  /** Writes a line to standard error; nothing with `--quiet`. */
  note(line: string): void;
  /** Writes a line like `note`, but each line only once. */
  noteOnce(line: string): void;
  /** Makes later notes shell comments, for a command whose standard error is a script. */
  commentNotes(): void;
  /** Writes raw data to standard error: spinners, questions, progress. */
  err(data: string): void;
  /** Colours for standard output; off if it supports none. */
  readonly paint: ChalkInstance;
  /** Colours for standard error. */
  readonly paintErr: ChalkInstance;
  /**
   * Calls `stepAside` before each write, so that a spinner can clear its line; returns a function
   * that undoes this.
   */
  beforeWrite(stepAside: () => void): () => void;
}

/** The parts of a writable stream that are used. */
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
  /**
   * Opens standard input. Only commands that read it may call this: an open standard input can keep
   * the process alive.
   */
  stdin(): NodeJS.ReadStream;
  /** Lets the process end while standard input is still open. */
  releaseStdin(): void;
}

/** The streams before the flags are parsed: no `--quiet`, no colours. */
export type PlainIo = Omit<Io, 'note' | 'noteOnce' | 'commentNotes' | 'paint' | 'paintErr'>;

export function createProcessStreams(): Streams {
  let openedStdin: NodeJS.ReadStream | undefined;
  return {
    stdout: process.stdout,
    stderr: process.stderr,
    // Loaded on demand: an import would load it for every command, and few need it.
    get stdinIsTerminal() {
      return process.getBuiltinModule('node:tty').isatty(0);
    },
    stdin: () => (openedStdin ??= process.stdin),
    releaseStdin: () => {
      openedStdin?.pause();
      openedStdin?.unref?.();
    },
  };
}

/** Wraps the streams; opens each one on first use. */
export function createPlainIo(streams: Streams): PlainIo {
  const hooks = new Set<() => void>();
  const stepAside = (): void => {
    for (const hook of hooks) hook();
  };

  streams.stderr.on('error', () => {}); // there is no other stream to report it to
  const write = createResultWriter(streams.stdout);
  const writeNote = (text: string): void => {
    streams.stderr.write(streams.stderr.isTTY === true ? withoutHiddenControls(text) : text);
  };

  return {
    stdout: createTerminalFacts(streams.stdout),
    stderr: Object.assign(createTerminalFacts(streams.stderr), {
      stream: streams.stderr as NodeJS.WriteStream,
    }),
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
    hasReader: () => hasReader(streams.stdout),
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

/** Adds notes and colours to the streams, as the flags ask. */
export function completeIo(
  io: PlainIo,
  options: { quiet: boolean; paint: ChalkInstance; paintErr: ChalkInstance },
): Io {
  // A note may contain text from a server, such as a run's name.
  let prefix = '';
  const note = (line: string): void => {
    if (!options.quiet) io.error(prefix + escapeControls(line));
  };

  const notedLines = new Set<string>();
  return {
    ...io,
    note,
    noteOnce: line => {
      if (!notedLines.has(line)) note(line);
      notedLines.add(line);
    },
    commentNotes: () => {
      prefix = '# ';
    },
    paint: options.paint,
    paintErr: options.paintErr,
  };
}

/**
 * Returns a writer that waits for each write, which bounds memory and detects that the reader is
 * gone.
 */
function createResultWriter(stdout: Sink): (data: string | Uint8Array) => Promise<boolean> {
  let isReaderGone = false;
  stdout.on('error', () => {
    isReaderGone = true;
  });
  return async data => {
    if (isReaderGone || data.length === 0) return !isReaderGone;
    const error = await new Promise<Error | null | undefined>(done => stdout.write(data, done));
    if (error && !isReaderGoneError(error)) throw unwritableOutputError(error);
    if (error) isReaderGone = true;
    return !isReaderGone;
  };
}

/**
 * Returns false if an empty write fails: it does on a socket whose other end is closed; a pipe
 * fails only at the next line.
 */
function hasReader({ fd, isTTY }: Sink): boolean {
  if (fd === undefined || isTTY === true || process.platform === 'win32') return true;
  try {
    writeSync(fd, new Uint8Array());
    return true;
  } catch (error) {
    return !isReaderGoneError(toError(error));
  }
}

function isReaderGoneError(error: Error): boolean {
  return ['EPIPE', 'ECONNRESET', 'ERR_STREAM_DESTROYED'].includes(getErrorCode(error) ?? '');
}

function unwritableOutputError(cause: Error): CliError {
  return new CliError(`standard output can't be written: ${cause.message}`, {
    status: 'FILE_ERROR',
    exitCode: EXIT.fault,
    cause,
  });
}

function createTerminalFacts(stream: Sink): TerminalFacts {
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
