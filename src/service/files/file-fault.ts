/** Something wrong in a file, and where. */
export class FileFault extends Error {
  readonly code = 'FILE_FAULT';

  constructor(
    /** From 1. */
    readonly line: number,
    /** What is wrong and how to mend it, without the place. */
    readonly what: string,
    /** From 1. */
    readonly column = 1,
    /** If it is not the one that is being read. */
    readonly file?: string | undefined,
  ) {
    super(`line ${line}: ${what}`);
  }
}

/** A place in a file, from 1. */
export interface Place {
  readonly line: number;
  readonly column: number;
}
