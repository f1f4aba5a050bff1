import { randomBytes } from 'node:crypto';
import { chmodSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { makeDirectory } from '../../core/make-directory.ts';

/** What a cache file holds; undefined where there is none or it is damaged, for a cache is simply filled again. */
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
  const unfinished = `${file}.${randomBytes(6).toString('hex')}.tmp`;
  try {
    writeFileSync(unfinished, JSON.stringify(value), { mode: 0o600, flag: 'wx' });
    chmodSync(unfinished, 0o600);
    renameSync(unfinished, file);
  } catch (error) {
    rmSync(unfinished, { force: true });
    throw error;
  }
}
