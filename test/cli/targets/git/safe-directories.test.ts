import { mkdirSync, realpathSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { isSafeDirectory } from '../../../../src/cli/targets/git/safe-directories.ts';
import { temporaryDirectory } from '../../../support/context.ts';
import { hasLinks } from '../../../support/system.ts';

const GLOBAL = {
  GIT_CONFIG_GLOBAL: '/nowhere',
  GIT_CONFIG_COUNT: '1',
  GIT_CONFIG_KEY_0: 'safe.directory',
};

it.runIf(hasLinks)('a folder is safe by any path that leads to it, as on macOS one in /tmp', () => {
  const home = temporaryDirectory();
  mkdirSync(path.join(home, 'real/clone'), { recursive: true });
  symlinkSync('real', path.join(home, 'linked'));
  const folder = realpathSync.native(path.join(home, 'real/clone'));
  const isSafe = (directory: string): boolean =>
    isSafeDirectory(folder, { ...GLOBAL, GIT_CONFIG_VALUE_0: path.join(home, directory) });

  for (const named of ['linked/clone', 'real/clone', 'linked/*', 'real/*']) {
    expect([named, isSafe(named)]).toEqual([named, true]);
  }

  for (const named of ['linked', 'linked/cl', 'linked/cl/*', 'linked/clone/*', 'none/clone']) {
    expect([named, isSafe(named)]).toEqual([named, false]);
  }
});
