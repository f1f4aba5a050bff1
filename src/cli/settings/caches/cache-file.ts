import { readFileSync } from 'node:fs';
import path from 'node:path';
import { makeDirectory } from '../../../files/directories.ts';
import { replaceFileSync } from '../../../files/write-file.ts';
import { isObject, type JsonObject } from '../../core/json-value.ts';

/** What a cache file holds; nothing if there is none or it is damaged, for a cache is simply filled again. */
export function readCacheFile(file: string): JsonObject {
  try {
    const stored: unknown = JSON.parse(readFileSync(file, 'utf8'));
    return isObject(stored) ? stored : {};
  } catch {
    return {};
  }
}

/** Replaces a cache file, for its owner only. @throws what the file system throws */
export function writeCacheFile(file: string, content: JsonObject): void {
  makeDirectory(path.dirname(file), 0o700);
  replaceFileSync(file, JSON.stringify(content), 0o600);
}
