import path from 'node:path';
import { expect, it } from 'vitest';
import { checkDirectory } from '../../../../src/cli/outputs/saving/check-writable.ts';
import { createTemporaryDirectory } from '../../../support/context.ts';

it('accepts a directory that can be created', () => {
  const home = createTemporaryDirectory();
  expect(() => checkDirectory(home, path.join('a', 'b'), '--save')).not.toThrow();
});

// Other systems have no drives.
it.runIf(process.platform === 'win32')('refuses a directory on a drive that does not exist', () => {
  expect(() => checkDirectory(createTemporaryDirectory(), 'Q:\\pictures', '--save')).toThrow(
    '--save: the drive Q:\\ does not exist',
  );
});

it.runIf(process.platform === 'win32').each(['CON', 'new\\aux', 'NUL'])(
  'refuses the device name %s for a directory',
  name => {
    expect(() => checkDirectory(createTemporaryDirectory(), name, '--save')).toThrow(
      'for a device',
    );
  },
);
