import { mkdir, readdir, symlink, utimes, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, test } from 'vitest';
import { serviceClock } from '../../../../src/service/core/clock.ts';
import { createLockedWorkers } from '../../../../src/service/store/sqlite/locked-workers.ts';
import { createTemporaryDirectory } from '../../../support/context.ts';
import { hasLinks } from '../../../support/system.ts';

test.runIf(hasLinks)(
  'the lock of a dead worker is removed even while an owner removes its own',
  async () => {
    const dataDir = createTemporaryDirectory();
    const workers = path.join(dataDir, 'workers');
    await mkdir(workers);
    const dead = path.join(workers, 'dead.lock');
    await writeFile(dead, '');
    await utimes(dead, 0, 0);

    // Listed, and gone for whoever asks about it.
    await symlink(path.join(workers, 'nowhere'), path.join(workers, 'gone.lock'));

    await createLockedWorkers(dataDir, 'command', serviceClock).removeDead();

    expect(await readdir(workers)).toEqual(['gone.lock']);
  },
);
