import { readFileSync } from 'node:fs';

/** Reads a text file; undefined if there is none, or it can't be read. */
export function readIfReadable(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}
