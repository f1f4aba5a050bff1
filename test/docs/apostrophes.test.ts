import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';

const root = path.resolve(import.meta.dirname, '..', '..');

/** Recognises what providers write, with either apostrophe. */
const RECOGNISERS = new Set([path.join('models', 'providers', 'answers', 'refused-option.ts')]);

test('messages and guides are written with one apostrophe', () => {
  const files = [
    ...listFilesBelow('src', /\.tsx?$/),
    ...listFilesBelow('docs', /\.(md|txt)$/),
    ...listFilesBelow('completions', /./),
    'README.md',
  ];
  const mixed = files.filter(file => readFileSync(path.join(root, file), 'utf8').includes('’'));
  expect(mixed).toEqual([]);
});

function listFilesBelow(folder: string, name: RegExp): string[] {
  return readdirSync(path.join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter(file => name.test(file) && !RECOGNISERS.has(file))
    .map(file => path.join(folder, file));
}
