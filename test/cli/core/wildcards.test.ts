import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { expandWildcards } from '../../../src/cli/core/wildcards.ts';
import { createTemporaryDirectory } from '../../support/context.ts';

/** Returns a directory with a few files in its folder `in`. */
function createFiles(): string {
  const cwd = createTemporaryDirectory();
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
])('expands %j to %j', (typedNames, expandedNames) => {
  expect(expandWildcards(typedNames, createFiles())).toEqual(expandedNames);
});

it('finds names that macOS lists with separate accents', () => {
  const cwd = createTemporaryDirectory();
  writeFileSync(path.join(cwd, 'gru\u0308n.prompt'), '');
  const [name] = readdirSync(cwd);
  expect(expandWildcards(['gr\u00fc*.prompt'], cwd)).toEqual([name]);
});
