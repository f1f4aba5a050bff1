import { mkdirSync, realpathSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { isSafeDirectory } from '../../../../src/cli/targets/git/safe-directories.ts';
import { createTemporaryDirectory } from '../../../support/context.ts';
import { hasLinks } from '../../../support/system.ts';

const SAFE_DIRECTORY_ENV = {
  GIT_CONFIG_GLOBAL: '/nowhere',
  GIT_CONFIG_COUNT: '1',
  GIT_CONFIG_KEY_0: 'safe.directory',
};

it.runIf(hasLinks)(
  'a folder is safe if any path that leads to it is listed, such as a link to it',
  () => {
    const home = createTemporaryDirectory();
    mkdirSync(path.join(home, 'real/clone'), { recursive: true });
    symlinkSync('real', path.join(home, 'linked'));
    const folder = realpathSync.native(path.join(home, 'real/clone'));
    const isSafe = (directory: string): boolean =>
      isSafeDirectory(folder, {
        ...SAFE_DIRECTORY_ENV,
        GIT_CONFIG_VALUE_0: path.join(home, directory),
      });

    for (const listed of ['linked/clone', 'real/clone', 'linked/*', 'real/*']) {
      expect([listed, isSafe(listed)]).toEqual([listed, true]);
    }

    for (const listed of ['linked', 'linked/cl', 'linked/cl/*', 'linked/clone/*', 'none/clone']) {
      expect([listed, isSafe(listed)]).toEqual([listed, false]);
    }
  },
);
