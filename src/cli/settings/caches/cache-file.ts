import { readFileSync } from 'node:fs';
import path from 'node:path';
import { makeDirectory } from '../../../files/directories.ts';
import { replaceFileSync } from '../../../files/write-file.ts';

/** What a cache file holds; undefined if there is none or it is damaged, for a cache is simply filled again. */
export function readCacheFile(file: string): unknown {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch {
    return undefined;
  }
}

/** Replaces a cache file whole or not at all, readable by its owner only. */
export function writeCacheFile(file: string, value: unknown): void {
  makeDirectory(path.dirname(file), 0o700);
  replaceFileSync(file, JSON.stringify(value), 0o600);
}
