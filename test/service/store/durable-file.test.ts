import { readFileSync, readlinkSync, statSync, writeFileSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import path from 'node:path';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { makeDirectory, writeDurably } from '../../../src/service/store/durable-file.ts';
import { temporaryDirectory } from '../../support/context.ts';

const onLinux = process.platform === 'linux';

afterEach(() => {
  vi.restoreAllMocks();
});

/** Which files are synced from now on, in their order. */
async function recordSyncs(): Promise<string[]> {
  const synced: string[] = [];
  const handle = await open('/proc/self/fd', 'r');
  await handle.close();
  const prototype = Object.getPrototypeOf(handle) as FileHandle;
  vi.spyOn(prototype, 'sync').mockImplementation(function sync(this: FileHandle) {
    synced.push(readlinkSync(`/proc/self/fd/${this.fd}`));
    return Promise.resolve();
  });
  return synced;
}

describe('making a directory', () => {
  test.runIf(onLinux)('makes those above it as well, for their owner alone, each on disk', async () => {
    const home = temporaryDirectory();
    const synced = await recordSyncs();
    await makeDirectory(path.join(home, 'a/b/c'));
    for (const made of ['a', 'a/b', 'a/b/c']) {
      expect(statSync(path.join(home, made)).mode & 0o777).toBe(0o700);
    }
    expect(synced).toEqual(['', 'a', 'a/b'].map(above => path.join(home, above)));
  });

  test.runIf(onLinux)('leaves one that is there as it is', async () => {
    const synced = await recordSyncs();
    const { mode } = statSync('/tmp');
    await makeDirectory('/tmp');
    expect(statSync('/tmp').mode).toBe(mode);
    expect(synced).toEqual([]);
  });

  test('is done by several at once', async () => {
    const directory = path.join(temporaryDirectory(), 'a/b');
    await Promise.all([1, 2, 3, 4].map(() => makeDirectory(directory)));
    expect(statSync(directory).isDirectory()).toBe(true);
  });

  test('fails where a file has its name, or that of one above', async () => {
    const file = path.join(temporaryDirectory(), 'file');
    writeFileSync(file, '');
    await expect(makeDirectory(file)).rejects.toThrow('EEXIST');
    await expect(makeDirectory(path.join(file, 'a/b'))).rejects.toThrow('EEXIST');
  });

  test.runIf(onLinux)('fails where the system allows none', async () => {
    await expect(makeDirectory('/proc/x/y')).rejects.toThrow('ENOENT');
    await expect(writeDurably('/proc/x/y/file', Buffer.from('bytes'))).rejects.toThrow('ENOENT');
  });
});

test('a file is written whole, in a directory that is made for it', async () => {
  const file = path.join(temporaryDirectory(), 'a/file');
  await writeDurably(file, Buffer.from('bytes'));
  expect(readFileSync(file, 'utf8')).toBe('bytes');
  expect(statSync(file).mode & 0o777).toBe(0o600);
});
