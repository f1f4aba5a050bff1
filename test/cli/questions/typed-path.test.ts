import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { completePath, resolveTypedPath } from '../../../src/cli/questions/typed-path.ts';
import { createTemporaryDirectory } from '../../support/context.ts';

let cwd = '';

beforeEach(async () => {
  cwd = createTemporaryDirectory();
  await mkdir(path.join(cwd, 'pictures/deep'), { recursive: true });
  const files = [
    'notes.txt',
    'pictures/one.png',
    'pictures/one more.png',
    'pictures/two.png',
    '.hidden.png',
    "it's.png",
  ];
  await Promise.all(files.map(file => writeFile(path.join(cwd, file), '')));
});

const complete = (typed: string) =>
  completePath(typed, {
    cwd,
    home: path.join(cwd, 'pictures'),
    isProposed: name => name.endsWith('.png'),
  });

const resolvePath = (typed: string) => resolveTypedPath(typed, { cwd, home: '/home/ada' });

describe('completing a path', () => {
  it('inserts the part that all matching paths have in common', () => {
    expect(complete('p')).toEqual({ text: 'pictures/', candidates: [] });
    expect(complete('pictures/t')).toEqual({ text: 'pictures/two.png', candidates: [] });
    expect(complete('pictures/o')).toEqual({
      text: 'pictures/one',
      candidates: ['one more.png', 'one.png'],
    });
  });

  it('lists the matching paths, folders and images only', () => {
    expect(complete('')).toEqual({ text: '', candidates: ["it's.png", 'pictures/'] });
    expect(complete('pictures/')).toMatchObject({
      candidates: ['deep/', 'one more.png', 'one.png', 'two.png'],
    });
    expect(complete('.h')).toEqual({ text: '.hidden.png', candidates: [] });
  });

  it('inserts no half of a character that only begins like another', async () => {
    await mkdir(path.join(cwd, 'faces'));
    await Promise.all(
      ['a😀.png', 'a😁.png'].map(name => writeFile(path.join(cwd, 'faces', name), '')),
    );
    expect(complete('faces/')).toEqual({ text: 'faces/a', candidates: ['a😀.png', 'a😁.png'] });
  });

  it('leaves a path without matches unchanged', () => {
    expect(complete('none/x')).toEqual({ text: 'none/x', candidates: [] });
    expect(complete('https://example.com/x')).toEqual({
      text: 'https://example.com/x',
      candidates: [],
    });
  });

  it('proposes no name with control characters', async () => {
    await writeFile(path.join(cwd, 'pictures/two\u001b[2J.png'), '');
    expect(complete('pictures/tw')).toEqual({ text: 'pictures/two.png', candidates: [] });
  });

  it('looks into the home directory and absolute folders', () => {
    expect(complete('~/t')).toEqual({ text: '~/two.png', candidates: [] });
    expect(complete(`${cwd}/pictures/t`)).toEqual({
      text: `${cwd}/pictures/two.png`,
      candidates: [],
    });
  });
});

describe('the path of an answer', () => {
  it('expands the home directory', () => {
    expect(resolvePath('~/x.png')).toBe('/home/ada/x.png');
    expect(resolvePath('~x.png')).toBe('~x.png');
  });

  it('removes the quotes and backslashes of a file dropped on the terminal', () => {
    expect(resolvePath("'pictures/one more.png' ")).toBe('pictures/one more.png');
    expect(resolvePath(String.raw`pictures/one\ more.png`)).toBe('pictures/one more.png');
    expect(resolvePath("it's.png")).toBe("it's.png");
  });

  it('removes the quotes of a missing file, but not its backslashes', () => {
    expect(resolvePath("'new file.png'")).toBe('new file.png');
    expect(resolvePath('"~/new file.png"')).toBe('/home/ada/new file.png');
    expect(resolvePath(String.raw`"C:\none\new file.png"`)).toBe(String.raw`C:\none\new file.png`);
    expect(resolvePath(String.raw`none\new.png`)).toBe(String.raw`none\new.png`);
  });

  it('prefers a file of exactly the typed name', async () => {
    const name = String.raw`a\ b.png`;
    await writeFile(path.join(cwd, name), '');
    expect(resolvePath(name)).toBe(name);
  });

  it('leaves missing files and URLs unchanged', () => {
    expect(resolvePath('none.png')).toBe('none.png');
    expect(resolvePath(' https://example.com/x.png')).toBe('https://example.com/x.png');
  });
});
