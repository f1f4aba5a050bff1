import { chmodSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { prepareDataDirectory } from '../../../src/service/store/sqlite/data-dir.ts';

let directory: string;
const modeOf = (file: string): number => statSync(file).mode & 0o777;
const put = (name: string): void => writeFileSync(path.join(directory, name), '');

beforeEach(() => {
  directory = mkdtempSync(path.join(tmpdir(), 'promptrun-data-'));
  chmodSync(directory, 0o755);
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

describe.skipIf(process.platform === 'win32')('the data directory', () => {
  test('is made for its owner alone, and so is the database', async () => {
    const file = await prepareDataDirectory(path.join(directory, 'a', 'b'));
    expect(modeOf(path.join(directory, 'a', 'b'))).toBe(0o700);
    expect(modeOf(file)).toBe(0o600);
  });

  test.each([
    ['nothing', []],
    ['only models to start with', ['models.yaml']],
    ['an earlier database', ['promptrun.db', 'models.yaml', 'media']],
  ])('is closed to others where it holds %s', async (_, names) => {
    names.forEach(put);
    await prepareDataDirectory(directory);
    expect(modeOf(directory)).toBe(0o700);
  });

  test('keeps its mode where it held other things first', async () => {
    put('photo.jpg');
    await prepareDataDirectory(directory);
    expect(modeOf(directory)).toBe(0o755);
  });
});
