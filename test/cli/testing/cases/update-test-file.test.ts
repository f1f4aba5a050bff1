import { expect, it } from 'vitest';
import { toUpdateError } from '../../../../src/cli/testing/cases/update-test-file.ts';

it.each([
  ['win32', ['If another program has it open, close it there, and run the command again.']],
  ['linux', []],
] as const)(
  'a test file that could not be updated is named, with advice that helps: %s',
  (platform, hints) => {
    const cause = Object.assign(new Error('EPERM: operation not permitted'), { code: 'EPERM' });
    expect(toUpdateError('a.test.yaml', cause, platform)).toMatchObject({
      message: 'a.test.yaml was not updated: EPERM: operation not permitted',
      status: 'FILE_ERROR',
      hints,
    });
  },
);
