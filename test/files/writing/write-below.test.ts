import { execFileSync } from 'node:child_process';
import {
  constants,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { openForAppend } from '../../../src/files/writing/append-log.ts';
import { lockFile } from '../../../src/files/writing/lock.ts';
import {
  type ContainedPath,
  checkDeviceName,
  makeContainedFolder,
  makeDirectory,
  openContainedFile,
} from '../../../src/files/writing/write-below.ts';
import {
  createFile,
  replaceFile,
  writeUnderFreeName,
} from '../../../src/files/writing/write-file.ts';
import { createTemporaryDirectory } from '../../support/context.ts';
import { hasLinks, isPosix } from '../../support/system.ts';

const NEW_LOG = constants.O_RDWR | constants.O_APPEND | constants.O_CREAT;

/** Every way to write a file below a folder. */
const WRITERS: Record<string, (file: ContainedPath) => unknown> = {
  replaceFile: async file => replaceFile(file, 'written'),
  createFile: async file => createFile(file, 'written'),
  writeUnderFreeName: async ({ folder, name }) =>
    writeUnderFreeName(
      { folder, name: path.dirname(name) },
      { chooseName: () => path.basename(name), content: 'written', ifTaken: 'suffix' },
    ),
  'writeUnderFreeName with force': async ({ folder, name }) =>
    writeUnderFreeName(
      { folder, name: path.dirname(name) },
      { chooseName: () => path.basename(name), content: 'written', ifTaken: 'replace' },
    ),
  openForAppend: async file => (await openForAppend(file)).close(),
  openContainedFile: async file => (await openContainedFile(file, NEW_LOG)).close(),
  lockFile: async ({ folder, name }) =>
    lockFile({ folder, name: name.replace(/\.lock$/u, '') })?.(),
};

/**
 * Returns a folder, beside which a stranger has a file, a folder and nothing that links may lead
 * to.
 */
function createScene() {
  const home = createTemporaryDirectory();
  const folder = path.join(home, 'folder');
  const outside = path.join(home, 'outside');
  mkdirSync(folder);
  mkdirSync(outside);
  writeFileSync(path.join(outside, 'file'), 'former');

  const isOutsideChanged = (): boolean =>
    readFileSync(path.join(outside, 'file'), 'utf8') !== 'former' ||
    readdirSync(outside).length > 1;

  return { home, folder, outside, isOutsideChanged };
}

/** Links as a repository may bring them, by what is wrong with the name that leads over them. */
const LINKS: Record<string, { link: string; target: string; name: string }> = {
  'a link to a file': { link: 'x.lock', target: '../outside/file', name: 'x.lock' },
  'a link to nothing': { link: 'x.lock', target: '../outside/new', name: 'x.lock' },
  'a link to a folder': { link: 'x.lock', target: '../outside', name: 'x.lock' },
  'a link to a device': { link: 'x.lock', target: '/dev/null', name: 'x.lock' },
  'a loop': { link: 'x.lock', target: 'x.lock', name: 'x.lock' },
  'a link within the folder': { link: 'x.lock', target: 'other', name: 'x.lock' },
  'a folder that is a link': { link: 'runs', target: '../outside', name: 'runs/x.lock' },
  'a folder that is a link to nothing': {
    link: 'runs',
    target: '../outside/new',
    name: 'runs/x.lock',
  },
  'a link in the middle': { link: 'a/b', target: '../../outside', name: 'a/b/c/x.lock' },
};

describe.each(Object.entries(WRITERS))('%s', (writer, write) => {
  it.runIf(hasLinks).each(Object.entries(LINKS))(
    'refuses %s, and names it',
    async (__, { link, target, name }) => {
      const { folder, isOutsideChanged } = createScene();
      mkdirSync(path.dirname(path.join(folder, link)), { recursive: true });
      symlinkSync(target, path.join(folder, link));
      await expect(write({ folder, name })).rejects.toThrow(`${path.join(folder, link)} is a link`);
      expect(isOutsideChanged()).toBe(false);
      expect(readdirSync(folder)).toEqual([link.split('/')[0]]);
    },
  );

  it.each(['../outside/x.lock', 'a/../../outside/x.lock', '/x.lock'])(
    'refuses the name %s',
    async name => {
      const { folder, isOutsideChanged } = createScene();
      await expect(write({ folder, name })).rejects.toThrow('leads out of its folder');
      expect(isOutsideChanged()).toBe(false);
    },
  );

  it.runIf(hasLinks)('writes to a folder that is a link, over links that lead to it', async () => {
    const { home, folder, outside } = createScene();
    mkdirSync(path.join(outside, 'in'));
    symlinkSync('outside', path.join(home, 'way'));
    symlinkSync('../way/in', path.join(folder, 'linked'));
    await write({ folder: path.join(folder, 'linked'), name: 'x.lock' });
    // A lock is gone once it is released.
    const written = writer === 'lockFile' ? [] : ['x.lock'];
    expect(readdirSync(path.join(outside, 'in'))).toEqual(written);
  });

  it.runIf(isPosix)('does not wait for a pipe', async () => {
    const { folder } = createScene();
    execFileSync('mkfifo', [path.join(folder, 'x.lock')]);
    // Some put a file in its place, some keep it, and some fail.
    await Promise.allSettled([write({ folder, name: 'x.lock' })]);
  });
});

describe('a file below a folder', () => {
  it('gets the folders above it, one by one', async () => {
    const { folder } = createScene();
    await replaceFile({ folder: path.join(folder, 'made'), name: 'a/b/file' }, 'written');
    expect(readFileSync(path.join(folder, 'made/a/b/file'), 'utf8')).toBe('written');
    expect(makeContainedFolder({ folder, name: 'made/a/c' })).toBe(path.join(folder, 'made/a/c'));
  });

  it.runIf(isPosix)('must be a regular file to be opened', async () => {
    const { folder } = createScene();
    execFileSync('mkfifo', [path.join(folder, 'pipe')]);
    for (const flags of [NEW_LOG, constants.O_RDONLY]) {
      await expect(openContainedFile({ folder, name: 'pipe' }, flags)).rejects.toThrow(
        'is not a regular file',
      );
    }
  });
});

describe('a device name of Windows', () => {
  const names = ['CON', 'aux.csv', 'Nul', 'com1.tar.gz', 'LPT¹', 'prn .txt', 'conin$'];

  it.each(names)('is refused for a new file or folder there: %s', name => {
    expect(() => checkDeviceName(`C:\\a\\${name}`, 'win32')).toThrow(`\\${name} can't be made`);
    expect(() => checkDeviceName(`/a/${name}`, 'linux')).not.toThrow();
  });

  it.each(['console', 'aux_1.csv', 'com', 'lpt10', '.con', 'nul-1'])('is not %s', name => {
    expect(() => checkDeviceName(name, 'win32')).not.toThrow();
  });

  it.runIf(process.platform === 'win32').each(Object.entries(WRITERS))(
    'is refused by %s',
    async (_, write) => {
      const folder = createTemporaryDirectory();
      await expect((async () => write({ folder, name: 'aux.txt' }))()).rejects.toThrow(
        'for a device',
      );
      await expect((async () => write({ folder, name: 'con/x' }))()).rejects.toThrow(
        'for a device',
      );
      expect(() => makeDirectory(path.join(folder, 'prn', 'x'))).toThrow('for a device');
      expect(readdirSync(folder)).toEqual([]);
    },
  );
});
