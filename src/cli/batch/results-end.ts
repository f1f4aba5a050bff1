import type { FileHandle } from 'node:fs/promises';
import { isTornLine, parseResultsLine, readTornLine } from './results-line.ts';

const PIECE_BYTES = 64 * 1024;
const NEWLINE = 0x0a;

/** What follows the last newline of a file: empty, unless a crash tore the last line. */
export interface FileEnd {
  /** Where it begins. */
  readonly start: number;
  readonly text: string;
}

export async function readEnd(handle: FileHandle): Promise<FileEnd> {
  const { size } = await handle.stat();
  const start = await lastLineStart(handle, size);
  const { buffer } = await handle.read(Buffer.alloc(size - start), 0, size - start, start);
  return { start, text: buffer.toString('utf8') };
}

/** Ends a torn line: kept where it is whole, else cut off but for its run id. False where it is no line of results. */
export async function mendEnd(handle: FileHandle, { start, text }: FileEnd): Promise<boolean> {
  if (parseResultsLine(text) !== undefined) {
    await handle.appendFile('\n');
  } else if (isTornLine(text)) {
    await handle.truncate(start);
    const known = readTornLine(text);
    await handle.appendFile(known === undefined ? '' : `${JSON.stringify(known)}\n`);
  } else {
    return false;
  }
  await handle.datasync();
  return true;
}

/** Where what follows the last newline begins. */
async function lastLineStart(handle: FileHandle, size: number): Promise<number> {
  for (let end = size; end > 0; ) {
    const start = Math.max(0, end - PIECE_BYTES);
    const { buffer } = await handle.read(Buffer.alloc(end - start), 0, end - start, start);
    const at = buffer.lastIndexOf(NEWLINE);
    if (at !== -1) {
      return start + at + 1;
    }
    end = start;
  }
  return 0;
}
