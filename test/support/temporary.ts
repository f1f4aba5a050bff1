import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

const OURS = 'PROMPTRUN_TESTS_IN';

/** Keeps every temporary directory of the tests in one, which goes with them however a test ends. */
export default function temporary(): (() => void) | undefined {
  // Vitest sets up once for each project.
  if (process.env[OURS] !== undefined) return undefined;
  const usual = process.env['TMPDIR'];
  const directory = mkdtempSync(path.join(tmpdir(), 'promptrun-'));
  // PostgreSQL, which refuses to run as root, goes through it as another user.
  chmodSync(directory, 0o711);
  process.env['TMPDIR'] = directory;
  process.env[OURS] = directory;
  return () => {
    if (usual === undefined) delete process.env['TMPDIR'];
    else process.env['TMPDIR'] = usual;
    delete process.env[OURS];
    rmSync(directory, { recursive: true, force: true, maxRetries: 3 });
  };
}
