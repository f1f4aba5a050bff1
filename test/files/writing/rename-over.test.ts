import { describe, expect, it } from 'vitest';
import { renameOver } from '../../../src/files/writing/rename-over.ts';

/**
 * Renames over a file that stays open for some tries; returns the outcome and the time waited, in
 * milliseconds.
 */
async function renameOverOpenFile(
  platform: NodeJS.Platform,
  code: string,
  failureCount: number,
): Promise<{ outcome: string; waitedMs: number }> {
  let waitedMs = 0;
  let tryCount = 0;
  const rename = async (): Promise<void> => {
    tryCount += 1;
    if (tryCount <= failureCount) throw Object.assign(new Error(code), { code });
  };

  const sleep = async (ms: number): Promise<void> => {
    waitedMs += ms;
  };

  const outcome = await renameOver('new', 'old', { platform, rename, sleep }).then(
    () => 'renamed',
    (error: Error) => error.message,
  );
  return { outcome, waitedMs };
}

describe('a rename over a file that another process has open', () => {
  it.each(['EACCES', 'EBUSY', 'EPERM'])(
    'is tried again on Windows until the file is closed: %s',
    async code => {
      expect(await renameOverOpenFile('win32', code, 3)).toEqual({
        outcome: 'renamed',
        waitedMs: 60,
      });
    },
  );

  it('is abandoned after a second', async () => {
    expect(await renameOverOpenFile('win32', 'EPERM', Infinity)).toEqual({
      outcome: 'EPERM',
      waitedMs: 1000,
    });
  });

  it('is not tried again for other faults, and on other systems', async () => {
    expect(await renameOverOpenFile('win32', 'ENOENT', 1)).toEqual({
      outcome: 'ENOENT',
      waitedMs: 0,
    });
    expect(await renameOverOpenFile('linux', 'EPERM', 1)).toEqual({
      outcome: 'EPERM',
      waitedMs: 0,
    });
  });
});
