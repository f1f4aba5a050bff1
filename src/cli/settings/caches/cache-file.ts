import { readFileSync } from 'node:fs';

/** What a cache file holds; undefined if there is none or it is damaged, for a cache is simply filled again. */
export function readCacheFile(file: string): unknown {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch {
    return undefined;
  }
}
