import { createInterface } from 'node:readline';
import { Writable } from 'node:stream';
import { Interrupted } from '../errors.ts';
import type { Io } from '../io.ts';

export interface LineReading {
  readonly io: Io;
  readonly signal: AbortSignal;
  /** Reads without showing what is typed. */
  readonly hidden?: boolean;
}

/** Reads one line, edited as the terminal itself does it. @throws {Interrupted} at Ctrl-C, Ctrl-D and the end of input */
export async function readLine(
  question: string,
  { io, signal, hidden = false }: LineReading,
): Promise<string> {
  signal.throwIfAborted();
  io.err(question);
  const lines = createInterface({
    input: io.stdin.stream,
    ...(hidden && { output: nowhere(), terminal: true }),
  });
  let leave = (): void => {};
  try {
    const line = await new Promise<string>((resolve, reject) => {
      leave = () => reject(signal.aborted ? (signal.reason as Error) : new Interrupted('SIGINT'));
      signal.addEventListener('abort', leave);
      lines.once('line', resolve).once('close', leave).once('SIGINT', leave);
    });
    io.err(hidden ? '\n' : '');
    return line;
  } catch (error) {
    io.err('\n');
    throw error;
  } finally {
    signal.removeEventListener('abort', leave);
    lines.close();
  }
}

function nowhere(): Writable {
  return new Writable({ write: (_chunk, _encoding, written) => written() });
}
