import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { listPathCompletions } from '../../../src/cli/questions/path-completions.ts';
import { createTemporaryDirectory } from '../../support/context.ts';

it('completes names that macOS lists with separate accents as they are typed there', () => {
  const cwd = createTemporaryDirectory();
  writeFileSync(path.join(cwd, 'gru\u0308n.png'), '');
  const complete = (typed: string, platform: NodeJS.Platform): string[] =>
    listPathCompletions(typed, { cwd, home: undefined }, () => true, platform);

  expect(complete('gr\u00fc', 'darwin')).toEqual(['gr\u00fcn.png']);

  // Here the two forms are two names.
  expect(complete('gr\u00fc', 'linux')).toEqual([]);
  expect(complete('gru\u0308', 'linux')).toEqual(['gru\u0308n.png']);
});
