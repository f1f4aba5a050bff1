import { Writable } from 'node:stream';
import { Interrupted } from '../errors.ts';
import type { Io } from '../io.ts';

/** Where a question reads, draws and hears that it is no longer wanted. */
export interface Place {
  readonly input: NodeJS.ReadStream;
  readonly output: Writable;
  readonly signal: AbortSignal;
}

/** Asks one question; Ctrl-C, Ctrl-D, a terminal that goes away and an aborted signal all throw `Interrupted`. */
export async function asking<T>(io: Io, signal: AbortSignal, ask: (place: Place) => Promise<T>): Promise<T> {
  const input = io.stdin.stream;
  const ended = new AbortController();
  const end = () => ended.abort();
  // Readline closes at Ctrl-D on an empty line and tells nobody who could answer for it.
  const endIfClosed = (_text: unknown, key?: { ctrl?: boolean; name?: string }) => {
    if (key?.ctrl === true && key.name === 'd' && input.isPaused()) {
      end();
    }
  };
  try {
    const answer = ask({ input, output: drawnOn(io), signal: AbortSignal.any([signal, ended.signal]) });
    input.on('keypress', endIfClosed).on('end', end).on('close', end);
    return await answer;
  } catch (error) {
    signal.throwIfAborted();
    throw isEnd(error) ? new Interrupted('SIGINT') : error;
  } finally {
    input.off('keypress', endIfClosed).off('end', end).off('close', end);
  }
}

function isEnd(error: unknown): boolean {
  return error instanceof Error && ['ExitPromptError', 'AbortPromptError'].includes(error.name);
}

/** Standard error as a stream that knows its width. */
function drawnOn(io: Io): Writable {
  const output = new Writable({
    decodeStrings: false,
    write(chunk: string | Uint8Array, _encoding, written) {
      io.err(typeof chunk === 'string' ? chunk : Buffer.from(chunk).toString());
      written();
    },
  });
  return Object.defineProperties(output, {
    isTTY: { get: () => io.stderr.isTerminal },
    columns: { get: () => io.stderr.columns },
    rows: { get: () => io.stderr.rows },
  });
}
