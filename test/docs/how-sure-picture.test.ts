import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { createTemporaryDirectory } from '../support/context.ts';

const root = path.resolve(import.meta.dirname, '..', '..');
const read = (file: string): string => readFileSync(file, 'utf8');

it('the picture of the guide shows what the statistics and its table say today', () => {
  const drawn = path.join(createTemporaryDirectory(), 'how-sure.svg');
  execFileSync(process.execPath, ['scripts/how-sure-picture.js', drawn], { cwd: root });
  expect(read(path.join(root, 'docs', 'how-sure.svg'))).toBe(read(drawn));
  expect(read(drawn)).toContain('>60–98 % · price of 10 runs</text>');
  expect(read(drawn)).toContain('>91.9 % (nothing changed: 2 %)</text>');
  expect(read(path.join(root, 'docs', 'how-sure.md'))).toContain('](how-sure.svg)');
});
