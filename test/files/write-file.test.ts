import { lstatSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { createFile, replaceFile, writeUnderFreeName } from '../../src/files/write-file.ts';
import { temporaryDirectory } from '../support/context.ts';

describe('replacing a file', () => {
  it('takes text, bytes, or what writes it piece by piece', async () => {
    const file = path.join(temporaryDirectory(), 'file');
    await replaceFile(file, 'text', 0o600);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    await replaceFile(file, Buffer.from('bytes'));
    expect(readFileSync(file, 'utf8')).toBe('bytes');
    await replaceFile(file, async target => {
      await target.appendFile('one ');
      await target.appendFile('two');
    });
    expect(readFileSync(file, 'utf8')).toBe('one two');
    expect(statSync(file).mode & 0o777).toBe(0o600);
  });

  it('leaves the former one, and nothing else, where writing fails', async () => {
    const file = path.join(temporaryDirectory(), 'file');
    writeFileSync(file, 'former');
    const failing = replaceFile(file, async target => {
      await target.appendFile('half');
      throw new Error('no more');
    });
    await expect(failing).rejects.toThrow('no more');
    expect(readFileSync(file, 'utf8')).toBe('former');
    expect(readdirSync(path.dirname(file))).toEqual(['file']);
  });

  it('keeps a link, and replaces what it leads to', async () => {
    const home = temporaryDirectory();
    writeFileSync(path.join(home, 'file'), 'former');
    symlinkSync('file', path.join(home, 'link'));
    await replaceFile(path.join(home, 'link'), 'new');
    expect(lstatSync(path.join(home, 'link')).isSymbolicLink()).toBe(true);
    expect(readFileSync(path.join(home, 'file'), 'utf8')).toBe('new');
  });

  it.runIf(process.platform !== 'win32')('writes to a device as it stands', async () => {
    await replaceFile('/dev/null', 'text');
    expect(statSync('/dev/null').isCharacterDevice()).toBe(true);
  });
});

describe('a new file', () => {
  it('is not made where there is one of its name', async () => {
    const file = path.join(temporaryDirectory(), 'file');
    expect(await createFile(file, 'first')).toBe(true);
    expect(await createFile(file, 'second')).toBe(false);
    expect(readFileSync(file, 'utf8')).toBe('first');
    expect(readdirSync(path.dirname(file))).toEqual(['file']);
  });

  it('gets a suffix where there is one of its name, unless that one is to be replaced', async () => {
    const home = temporaryDirectory();
    const write = (content: string, force: boolean): Promise<string> =>
      writeUnderFreeName(home, () => 'a.txt', content, force);
    expect([await write('1', false), await write('2', false), await write('3', true)]).toEqual([
      'a.txt',
      'a_1.txt',
      'a.txt',
    ]);
    expect(readFileSync(path.join(home, 'a.txt'), 'utf8')).toBe('3');
    expect(readdirSync(home).toSorted()).toEqual(['a.txt', 'a_1.txt']);
  });
});
