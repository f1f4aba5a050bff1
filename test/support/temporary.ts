import { execFileSync } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

/** The variable that names the directory of all temporary ones, for as long as the tests run. */
export const TEMPORARY_VARIABLE = 'PROMPTRUN_TESTS_IN';

/** The variable that says where temporary directories lie. */
const PLACE = process.platform === 'win32' ? 'TEMP' : 'TMPDIR';

/**
 * Keeps every temporary directory of the tests in one, which goes with them however a test ends.
 */
export default function keepTemporaryTogether(): (() => void) | undefined {
  // Vitest sets up once for each project.
  if (process.env[TEMPORARY_VARIABLE] !== undefined) return undefined;

  const usual = process.env[PLACE];
  const directory = (usual === undefined ? makeInMemory() : undefined) ?? makeDirectoryIn(tmpdir());

  // PostgreSQL, which refuses to run as root, goes through it as another user.
  chmodSync(directory, 0o711);
  process.env[PLACE] = directory;
  process.env[TEMPORARY_VARIABLE] = directory;

  return () => {
    if (usual === undefined) {
      delete process.env[PLACE];
    } else {
      process.env[PLACE] = usual;
    }
    delete process.env[TEMPORARY_VARIABLE];
    rmSync(directory, { recursive: true, force: true, maxRetries: 3 });
  };
}

const MEMORY = '/dev/shm';
const ENOUGH_BYTES = 4 * 1024 ** 3;

/**
 * Makes the directory in memory, where a write that must survive a power cut takes no time: tests
 * wait for the disk more than half of theirs. Undefined if there is no such place, or little room,
 * or programs in it may not be run.
 */
function makeInMemory(): string | undefined {
  if (process.platform !== 'linux') return undefined;
  let directory: string | undefined;
  try {
    const { bavail, bsize } = statfsSync(MEMORY);
    if (bavail * bsize < ENOUGH_BYTES) return undefined;

    directory = makeDirectoryIn(MEMORY);
    const program = path.join(directory, 'program');
    writeFileSync(program, '#!/bin/sh\n', { mode: 0o700 });
    execFileSync(program);
    rmSync(program);

    return directory;
  } catch {
    if (directory !== undefined) rmSync(directory, { recursive: true, force: true });
    return undefined;
  }
}

function makeDirectoryIn(parent: string): string {
  return mkdtempSync(path.join(parent, 'promptrun-'));
}
