/** A position in a file; line and column count from 1. */
export interface FilePosition {
  readonly line: number;
  readonly column: number;
  /** The file; undefined for the one that is being read. */
  readonly file?: string | undefined;
}

/** A fault in a file that a user wrote. */
export class FileFault extends Error implements FilePosition {
  readonly code = 'FILE_FAULT';

  constructor(
    readonly line: number,
    /** The message without the position: what is wrong, and how to fix it. */
    readonly problem: string,
    readonly column = 1,
    readonly file?: string | undefined,
  ) {
    super(`line ${line}: ${problem}`);
  }
}

export function faultAt({ line, column, file }: FilePosition, problem: string): FileFault {
  return new FileFault(line, problem, column, file);
}

export function withoutFile({ line, column }: FilePosition): FilePosition {
  return { line, column };
}
