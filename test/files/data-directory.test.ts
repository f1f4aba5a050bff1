import { chmodSync, chownSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { prepareDataDirectory } from '../../src/files/data-directory.ts';
import { createTemporaryDirectory } from '../support/context.ts';
import { isPosix } from '../support/system.ts';

let directory: string;
const getFileMode = (file: string): number => statSync(file).mode & 0o777;
const writeEmptyFile = (name: string): void => writeFileSync(path.join(directory, name), '');

beforeEach(() => {
  directory = createTemporaryDirectory();
  chmodSync(directory, 0o755);
});

describe.skipIf(process.platform === 'win32')('the data directory', () => {
  test.runIf(isPosix)('is made for its owner alone', async () => {
    await prepareDataDirectory(path.join(directory, 'a', 'b'));
    expect(getFileMode(path.join(directory, 'a', 'b'))).toBe(0o700);
  });

  test.runIf(isPosix).each([0o777, 0o775, 0o757, 0o720])(
    'is refused if others can write to it: %o',
    async mode => {
      chmodSync(directory, mode);
      const preparing = prepareDataDirectory(directory);
      await expect(preparing).rejects.toThrow(
        `others can write to the data directory ${directory}`,
      );
      await expect(preparing).rejects.toThrow(`chmod go-w ${directory}`);
      expect(getFileMode(directory)).toBe(mode);
    },
  );

  test.runIf(process.getuid?.() === 0)('is refused if it belongs to another user', async () => {
    chownSync(directory, 12_345, 12_345);
    await expect(prepareDataDirectory(directory)).rejects.toThrow(
      'belongs to another user (id 12345)',
    );
  });

  test.each([
    ['nothing', []],
    ['only models to start with', ['models.yaml']],
    ['an earlier database', ['promptrun.db', 'models.yaml', 'media']],
  ])('is closed to others if it holds %s', async (_, names) => {
    names.forEach(writeEmptyFile);
    await prepareDataDirectory(directory);
    expect(getFileMode(directory)).toBe(0o700);
  });

  test.runIf(isPosix)('keeps its mode if it held other things before', async () => {
    writeEmptyFile('photo.jpg');
    await prepareDataDirectory(directory);
    expect(getFileMode(directory)).toBe(0o755);
  });
});
