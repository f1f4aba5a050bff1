import { execFileSync } from 'node:child_process';
import { mkdirSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  explainExclusion,
  inspectNamedFile,
  isBelow,
  isOnOtherComputer,
} from '../../src/files/named-file.ts';
import { createTemporaryDirectory } from '../support/context.ts';
import { hasLinks, isPosix } from '../support/system.ts';

/** The size of the file in the folder. */
const FILE_BYTES = 10;

/** Returns a folder with a file, a way to it over a link, and a file elsewhere. */
function createScene() {
  const home = createTemporaryDirectory();
  const folder = path.join(home, 'folder');
  mkdirSync(path.join(folder, 'in'), { recursive: true });
  writeFileSync(path.join(folder, 'in/file'), 'x'.repeat(FILE_BYTES));
  writeFileSync(path.join(home, 'folder-2'), 'elsewhere');
  symlinkSync('folder', path.join(home, 'linked'));

  const link = (name: string, target: string): string => {
    symlinkSync(target, path.join(folder, name));
    return path.join(folder, name);
  };

  return { home, folder, link };
}

describe('a file that another one names', () => {
  it.runIf(hasLinks)('lies below the folder by its real path, whatever leads to either', () => {
    const { home, folder, link } = createScene();
    link('way', 'in');

    const real = realpathSync.native(path.join(folder, 'in/file'));
    for (const file of [
      real,
      path.join(folder, 'way/file'),
      path.join(home, 'linked/in/../way/file'),
    ]) {
      for (const base of [folder, path.join(home, 'linked')]) {
        expect(inspectNamedFile(file, base, FILE_BYTES)).toEqual({
          realPath: real,
          fault: undefined,
        });
      }
    }
  });

  it.runIf(hasLinks).each([
    ['beside the folder, with a name that begins with its', () => '../folder-2'],
    ['over a link', ({ link }: ReturnType<typeof createScene>) => link('x', '../folder-2')],
    [
      'over a link in the middle',
      ({ link }: ReturnType<typeof createScene>) => `${link('up', '..')}/folder-2`,
    ],
  ])('is refused if it lies %s', (_, createFile) => {
    const scene = createScene();
    const file = path.resolve(scene.folder, createFile(scene));
    expect(inspectNamedFile(file, scene.folder, FILE_BYTES).fault).toBe('outside');
    expect(inspectNamedFile(file, undefined, FILE_BYTES).fault).toBeUndefined();
    expect(isBelow(scene.folder, file)).toBe(false);
  });

  it('is refused outside the folder even if it is missing', () => {
    const home = createTemporaryDirectory();
    const folder = path.join(home, 'folder');
    mkdirSync(folder);

    expect(inspectNamedFile(path.join(folder, '../no/file'), folder, FILE_BYTES).fault).toBe(
      'outside',
    );

    for (const [file, base] of [
      ['no/file', folder],
      ['../no', undefined],
    ] as const) {
      expect(() => inspectNamedFile(path.join(folder, file), base, FILE_BYTES)).toThrow('ENOENT');
    }
  });

  it.runIf(hasLinks)('is refused if a missing file would lie outside over a link', () => {
    const { folder, link } = createScene();
    expect(inspectNamedFile(`${link('up', '..')}/no`, folder, FILE_BYTES).fault).toBe('outside');
    expect(() => inspectNamedFile(`${link('way', 'in')}/no`, folder, FILE_BYTES)).toThrow('ENOENT');
  });

  it.runIf(isPosix)('is regular and of bounded size', () => {
    const { folder, link } = createScene();
    expect(inspectNamedFile(path.join(folder, 'in/file'), folder, FILE_BYTES - 1).fault).toBe(
      'large',
    );
    expect(inspectNamedFile(path.join(folder, 'in'), folder, FILE_BYTES - 1).fault).toBe(
      'irregular',
    );
    expect(inspectNamedFile(link('zero', '/dev/null'), undefined, FILE_BYTES - 1).fault).toBe(
      'irregular',
    );
    expect(inspectNamedFile(link('loop', 'loop'), folder, FILE_BYTES - 1).fault).toBe('irregular');
  });

  it('is not on another computer or a device of Windows', () => {
    for (const name of ['\\\\host\\share\\x', '//host/share/x', '\\\\.\\pipe\\x', '\\\\?\\C:\\x']) {
      expect([name, isOnOtherComputer(name, 'win32')]).toEqual([name, true]);
      expect(isOnOtherComputer(name, 'linux')).toBe(false);
    }
    const names = ['C:\\x', '\\x', '/x', 'a\\\\b'];
    expect(names.filter(name => isOnOtherComputer(name, 'win32'))).toEqual([]);
  });
});

describe('a file that was found', () => {
  it.runIf(hasLinks)(
    'is left out if it leads elsewhere, to nothing or to what is not a file',
    () => {
      const { folder, link } = createScene();
      expect(explainExclusion(path.join(folder, 'in/file'), folder)).toBeUndefined();
      expect(explainExclusion(link('within', 'in/file'), folder)).toBeUndefined();
      expect(explainExclusion(path.join(folder, 'gone'), folder)).toBeUndefined();
      expect(explainExclusion(link('out', '../folder-2'), folder)).toBe(
        `it leads out of ${folder}`,
      );
      expect(explainExclusion(link('nothing', 'none'), folder)).toBe('it is a link to nothing');
      expect(explainExclusion(link('loop', 'loop'), folder)).toBe('it is not a regular file');
      expect(explainExclusion(path.join(folder, 'in'), folder)).toBe('it is not a regular file');
    },
  );

  it.runIf(isPosix)('is left out if it is a pipe', () => {
    const { folder } = createScene();
    execFileSync('mkfifo', [path.join(folder, 'pipe')]);
    expect(explainExclusion(path.join(folder, 'pipe'), folder)).toBe('it is not a regular file');
  });
});
