import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { expandWildcards } from '../../../src/cli/core/wildcards.ts';
import { temporaryDirectory } from '../../support/context.ts';

function folder(): string {
  const cwd = temporaryDirectory();
  mkdirSync(path.join(cwd, 'in'));
  for (const name of ['in/b.prompt', 'in/a.prompt', 'in/ab.txt', 'in/.c.prompt', 'in/.prompt']) {
    writeFileSync(path.join(cwd, name), '');
  }
  return cwd;
}

it.each([
  [
    ['in/*.prompt', 'x'],
    ['in/a.prompt', 'in/b.prompt', 'x'],
  ],
  [['in/a*b*t'], ['in/ab.txt']],
  [['in/a*a.prompt'], ['in/a*a.prompt']],
  [['in/.*'], ['in/.c.prompt', 'in/.prompt']],
  [['none/*'], ['none/*']],
  [['in'], ['in']],
])('%j is read as %j', (typed, files) => {
  expect(expandWildcards(typed, folder())).toEqual(files);
});

it('finds names that macOS lists with separate accents', () => {
  const cwd = temporaryDirectory();
  writeFileSync(path.join(cwd, 'gru\u0308n.prompt'), '');
  const [name] = readdirSync(cwd);
  expect(expandWildcards(['gr\u00fc*.prompt'], cwd)).toEqual([name]);
});
