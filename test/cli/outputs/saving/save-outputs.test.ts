import { writeFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { getFailureStatus } from '../../../../src/cli/outputs/saving/save-failures.ts';
import { toSaveFailure } from '../../../../src/cli/outputs/saving/save-outputs.ts';

/** Returns the error of a full disk, which Linux shows without filling one. */
function fillDisk(): unknown {
  try {
    writeFileSync('/dev/full', 'x');
  } catch (error) {
    return error;
  }
  throw new Error('/dev/full took what was written');
}

it.runIf(process.platform === 'linux')(
  'a full disk is the fault of this machine, not of the network',
  () => {
    const full = toSaveFailure(1, fillDisk());
    expect(full).toMatchObject({ output: 1, message: expect.stringContaining('ENOSPC') as string });
    expect(getFailureStatus([full])).toBe('FILE_ERROR');
    expect(getFailureStatus([full, toSaveFailure(2, new Error('its URL returned no bytes'))])).toBe(
      'NETWORK_ERROR',
    );
  },
);
