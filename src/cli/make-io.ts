import type { ChalkInstance } from 'chalk';
import { CliError } from './errors.ts';
import { EXIT } from './exit-codes.ts';
import type { Io, PlainIo, Sink, Streams, TerminalFacts } from './io.ts';
import { visible } from './outputs/sanitise.ts';
import { codeOf } from './thrown.ts';

/** Reads and writes the streams; nothing is opened before it is used. */
export function plainIo(streams: Streams): PlainIo {
  const hooks = new Set<() => void>();
  const stepAside = (): void => {
    for (const hook of hooks) hook();
  };
  streams.stderr.on('error', () => {}); // nobody is left to be told
  const write = resultWriter(streams.stdout);
  return {
    stdout: factsOf(streams.stdout),
    stderr: factsOf(streams.stderr),
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
      return write(data);
    },
    error: line => {
      stepAside();
      streams.stderr.write(`${line}\n`);
    },
    err: data => {
      streams.stderr.write(data);
    },
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
  return {
    ...io,
    // A note may name what came from a server, such as a run.
    note: line => {
      if (!options.quiet) io.error(visible(line));
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
