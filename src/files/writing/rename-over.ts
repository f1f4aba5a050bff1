import { renameSync } from 'node:fs';
import { rename } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { getErrorCode } from '../../utils/error-utils.ts';

/** Maximum time to wait for another program to close the file, in milliseconds. */
const RENAME_TIMEOUT_MS = 1000;
const RENAME_PAUSE_MS = 20;

/** Windows' error codes for a file that a virus scanner, an editor or another command has open. */
const OPEN_ELSEWHERE_CODES = new Set(['EACCES', 'EBUSY', 'EPERM']);

/** The parts of the system that a rename needs. */
interface RenameSystem {
  readonly platform: NodeJS.Platform;
  readonly rename: (from: string, to: string) => Promise<void>;
  readonly sleep: (ms: number) => Promise<unknown>;
}

/**
 * Renames a file and replaces an existing one. On Windows, waits for one that another program has
 * open.
 */
export async function renameOver(
  from: string,
  to: string,
  system: RenameSystem = { platform: process.platform, rename, sleep },
): Promise<void> {
  for (let waitedMs = 0; ; waitedMs += RENAME_PAUSE_MS) {
    try {
      return await system.rename(from, to);
    } catch (error) {
      if (!shouldRetryRename(error, waitedMs, system.platform)) throw error;
      await system.sleep(RENAME_PAUSE_MS);
    }
  }
}

/** Renames like `renameOver`, synchronously. */
export function renameOverSync(from: string, to: string): void {
  // Nothing notifies it: waiting for it is the only way to sleep synchronously.
  const neverNotified = new Int32Array(new SharedArrayBuffer(4));
  for (let waitedMs = 0; ; waitedMs += RENAME_PAUSE_MS) {
    try {
      return renameSync(from, to);
    } catch (error) {
      if (!shouldRetryRename(error, waitedMs, process.platform)) throw error;
      Atomics.wait(neverNotified, 0, 0, RENAME_PAUSE_MS);
    }
  }
}

function shouldRetryRename(error: unknown, waitedMs: number, platform: NodeJS.Platform): boolean {
  return (
    platform === 'win32' &&
    waitedMs < RENAME_TIMEOUT_MS &&
    OPEN_ELSEWHERE_CODES.has(getErrorCode(error) ?? '')
  );
}
