import fs, {
  mkdirSync,
  readlinkSync,
  realpathSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import path from 'node:path';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { makeDirectory } from '../../../src/files/writing/write-below.ts';
import { createTemporaryDirectory } from '../../support/context.ts';
import { isPosix } from '../../support/system.ts';

afterEach(() => {
  vi.restoreAllMocks();
  syncBuiltinESMExports();
});

/** Records the files that are flushed to the disk from now on, in order. */
function recordSyncs(): string[] {
  const syncedDirectories: string[] = [];
  vi.spyOn(fs, 'fsyncSync').mockImplementation(handle => {
    syncedDirectories.push(readlinkSync(`/proc/self/fd/${handle}`));
  });
  syncBuiltinESMExports();
  return syncedDirectories;
}

describe('making a directory', () => {
  it.runIf(isPosix)('makes those above it as well, all with the mode given', () => {
    const home = createTemporaryDirectory();
    makeDirectory(path.join(home, 'a/b/c'), 0o700);
    for (const directory of ['a', 'a/b', 'a/b/c']) {
      expect(statSync(path.join(home, directory)).mode & 0o777).toBe(0o700);
    }
  });

  it.runIf(process.platform === 'linux')(
    'has each on disk, and leaves those that are there alone',
    () => {
      const home = realpathSync(createTemporaryDirectory());
      const syncedDirectories = recordSyncs();
      makeDirectory(path.join(home, 'a/b/c'));
      makeDirectory(path.join(home, 'a/b/c'));
      expect(syncedDirectories).toEqual(['', 'a', 'a/b'].map(above => path.join(home, above)));
    },
  );

  it.runIf(isPosix)('leaves an existing one unchanged, behind a link too', () => {
    const home = createTemporaryDirectory();
    mkdirSync(path.join(home, 'there'), { mode: 0o750 });
    symlinkSync('there', path.join(home, 'link'));
    makeDirectory(path.join(home, 'link'));
    expect(statSync(path.join(home, 'there')).mode & 0o777).toBe(0o750);
  });

  it('fails if a file has its name, or that of a folder above', () => {
    const home = createTemporaryDirectory();
    writeFileSync(path.join(home, 'file'), '');
    expect(() => makeDirectory(path.join(home, 'file'))).toThrow('EEXIST');
    expect(() => makeDirectory(path.join(home, 'file/a/b'))).toThrow('ENOTDIR');
  });

  it.runIf(process.platform === 'linux')('fails if the system allows none', () => {
    expect(() => makeDirectory('/proc/x/y')).toThrow('ENOENT');
  });

  it.runIf(process.platform === 'win32')('fails on a drive that is not there', () => {
    const drive = 'ZYXWVUTSRQPONMLKJIHGFED'
      .split('')
      .find(letter => !fs.existsSync(`${letter}:\\`));
    expect(() => makeDirectory(`${drive}:\\x\\y`)).toThrow('ENOENT');
  });
});
