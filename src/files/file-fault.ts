/** A place in a file, from 1. */
export interface Place {
  readonly line: number;
  readonly column: number;
  /** If it is not the file that is being read. */
  readonly file?: string | undefined;
}

/** Something wrong in a file, and where. */
export class FileFault extends Error implements Place {
  readonly code = 'FILE_FAULT';

  constructor(
    readonly line: number,
    /** What is wrong and how to mend it, without the place. */
    readonly what: string,
    readonly column = 1,
    readonly file?: string | undefined,
  ) {
    super(`line ${line}: ${what}`);
  }
}

export function faultAt({ line, column, file }: Place, what: string): FileFault {
  return new FileFault(line, what, column, file);
}

/** The line and column of something that has more. */
export function placeOf({ line, column }: Place): Place {
  return { line, column };
}
