import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  closeSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { toContainedPath } from '../../../src/files/writing/write-below.ts';
import {
  appendToNamedFile,
  checkNamedForWriting,
  createFile,
  replaceFile,
  replaceNamedFile,
  writeUnderFreeName,
} from '../../../src/files/writing/write-file.ts';
import { createTemporaryDirectory } from '../../support/context.ts';
import { hasLinks, isPosix } from '../../support/system.ts';

describe('replacing a file', () => {
  it.runIf(isPosix)('takes text, bytes, or what writes it piece by piece', async () => {
    const file = path.join(createTemporaryDirectory(), 'file');
    await replaceFile(toContainedPath(file), 'text', 0o600);

    expect(statSync(file).mode & 0o777).toBe(0o600);

    await replaceFile(toContainedPath(file), Buffer.from('bytes'));
    expect(readFileSync(file, 'utf8')).toBe('bytes');

    await replaceFile(toContainedPath(file), async target => {
      await target.appendFile('one ');
      await target.appendFile('two');
    });
    expect(readFileSync(file, 'utf8')).toBe('one two');
    expect(statSync(file).mode & 0o777).toBe(0o600);
  });

  it.runIf(isPosix)('keeps the mode of the former file, whatever the umask', async () => {
    const file = path.join(createTemporaryDirectory(), 'file');
    writeFileSync(file, 'former');
    chmodSync(file, 0o666);
    await replaceFile(toContainedPath(file), 'new');

    expect(statSync(file).mode & 0o777).toBe(0o666);
  });

  it('leaves only the former one if writing fails', async () => {
    const file = path.join(createTemporaryDirectory(), 'file');
    writeFileSync(file, 'former');
    const failing = replaceFile(toContainedPath(file), async target => {
      await target.appendFile('half');
      throw new Error('no more');
    });

    await expect(failing).rejects.toThrow('no more');
    expect(readFileSync(file, 'utf8')).toBe('former');
    expect(readdirSync(path.dirname(file))).toEqual(['file']);
  });
});

describe('replacing a file that the user names', () => {
  it.runIf(hasLinks).each([
    ['a file', 'file'],
    ['nothing', 'missing'],
    ['a folder', '.'],
    ['itself', 'link'],
  ])('refuses a link to %s', async (_, target) => {
    const home = createTemporaryDirectory();
    const link = path.join(home, 'link');
    writeFileSync(path.join(home, 'file'), 'former');
    symlinkSync(target, link);

    expect(() => checkNamedForWriting(link)).toThrow(`${link} is a link`);
    await expect(replaceNamedFile(link, 'new')).rejects.toThrow(`${link} is a link`);
    await expect(appendToNamedFile(link, 'new')).rejects.toThrow(`${link} is a link`);
    expect(readFileSync(path.join(home, 'file'), 'utf8')).toBe('former');
    expect(readdirSync(home).toSorted()).toEqual(['file', 'link']);
  });

  it.runIf(hasLinks)('follows links that lead to its folder, and makes no folder', async () => {
    const home = createTemporaryDirectory();
    mkdirSync(path.join(home, 'real'));
    symlinkSync('real', path.join(home, 'linked'));
    const file = path.join(home, 'linked/file');
    checkNamedForWriting(file);
    await replaceNamedFile(file, 'new');

    expect(readFileSync(path.join(home, 'real/file'), 'utf8')).toBe('new');
    await expect(replaceNamedFile(path.join(home, 'none/file'), 'new')).rejects.toThrow('ENOENT');
  });

  it.runIf(!isPosix)('writes nothing to NUL, and makes no file of that name', async () => {
    const folder = createTemporaryDirectory();
    await appendToNamedFile(path.join(folder, 'nul'), 'x');
    expect(readdirSync(folder)).toEqual([]);
  });

  it.runIf(isPosix)('appends to a device as it stands, behind a link too', async () => {
    const link = path.join(createTemporaryDirectory(), 'link');
    symlinkSync('/dev/null', link);

    for (const file of ['/dev/null', link]) {
      checkNamedForWriting(file);
      await appendToNamedFile(file, 'text');
    }

    expect(statSync('/dev/null').isCharacterDevice()).toBe(true);
    expect(lstatSync(link).isSymbolicLink()).toBe(true);
  });

  it.runIf(isPosix)('appends to a pipe, behind a link too', async () => {
    const home = createTemporaryDirectory();
    execFileSync('mkfifo', [path.join(home, 'pipe')]);
    symlinkSync('pipe', path.join(home, 'link'));
    const read = readFile(path.join(home, 'pipe'), 'utf8');
    await appendToNamedFile(path.join(home, 'link'), 'text');
    expect(await read).toBe('text');
  });

  it.runIf(process.platform === 'linux')(
    'appends to the file behind a descriptor, but not behind a link to it',
    async () => {
      const home = createTemporaryDirectory();
      const file = path.join(home, 'file');
      const link = path.join(home, 'link');
      writeFileSync(file, 'former, ');
      const fd = openSync(file, 'r');
      symlinkSync(`/dev/fd/${fd}`, link);
      await appendToNamedFile(`/dev/fd/${fd}`, 'new');

      expect(() => checkNamedForWriting(link)).toThrow(`${link} is a link`);

      closeSync(fd);
      expect(readFileSync(file, 'utf8')).toBe('former, new');
    },
  );
});

describe('a new file', () => {
  it('is not made if one of that name exists', async () => {
    const file = path.join(createTemporaryDirectory(), 'file');
    expect(await createFile(toContainedPath(file), 'first')).toBe(true);
    expect(await createFile(toContainedPath(file), 'second')).toBe(false);
    expect(readFileSync(file, 'utf8')).toBe('first');
    expect(readdirSync(path.dirname(file))).toEqual(['file']);
  });

  it('gets a suffix if one of that name exists, unless it is to be replaced', async () => {
    const home = createTemporaryDirectory();
    const write = (content: string, ifTaken: 'suffix' | 'replace'): Promise<string> =>
      writeUnderFreeName(
        { folder: home, name: '.' },
        { chooseName: () => 'a.txt', content, ifTaken },
      );

    expect([
      await write('1', 'suffix'),
      await write('2', 'suffix'),
      await write('3', 'replace'),
    ]).toEqual(['a.txt', 'a_1.txt', 'a.txt']);

    expect(readFileSync(path.join(home, 'a.txt'), 'utf8')).toBe('3');
    expect(readdirSync(home).toSorted()).toEqual(['a.txt', 'a_1.txt']);
  });
});
