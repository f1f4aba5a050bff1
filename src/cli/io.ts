import type { ChalkInstance } from 'chalk';

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
  readonly stderr: TerminalFacts;
  readonly stdin: { readonly isTerminal: boolean; readonly stream: NodeJS.ReadStream };
  /** Writes results to standard output. False once the reader has gone: stop producing. */
  out(data: string | Uint8Array): Promise<boolean>;
  /** Writes a line to standard error whatever `--quiet` says. */
  error(line: string): void;
  /** Writes a line to standard error; nothing with `--quiet`. */
  note(line: string): void;
  /** Writes to standard error as it is: spinners, questions, progress. */
  err(data: string): void;
  /** Colours for standard output, off where it takes none. */
  readonly paint: ChalkInstance;
  /** Colours for standard error. */
  readonly paintErr: ChalkInstance;
  /** Called before anything is written to either stream, so that a spinner can step aside; returns how to stop that. */
  beforeWrite(stepAside: () => void): () => void;
}
