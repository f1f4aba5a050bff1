import { spawnSync } from 'node:child_process';
import { lstatSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

// Features that some tests need and a system may lack: those tests are skipped there.

/** File modes, pipes with names, devices, `sh` and what comes with it. */
export const isPosix = process.platform !== 'win32';

/** Links, which Windows lets only some users make, and Wine never makes. */
export const hasLinks = isPosix || canLink();

/** Git, which Windows may lack; on other systems its tests fail without it. */
export const hasGit = isPosix || spawnSync('git', ['--version']).status === 0;

/** Python, which Windows may lack; on other systems its tests fail without it. */
export const hasPython = isPosix || spawnSync('python', ['--version']).status === 0;

function canLink(): boolean {
  const home = mkdtempSync(path.join(tmpdir(), 'promptrun-links-'));
  const link = path.join(home, 'link');
  try {
    symlinkSync('nothing', link);
    return lstatSync(link).isSymbolicLink();
  } catch {
    return false;
  } finally {
    rmSync(home, { recursive: true });
  }
}

/** Frees the memory of everything that is no longer referenced. */
export function collectGarbage(): void {
  setFlagsFromString('--expose-gc');
  (runInNewContext('gc') as () => void)();
}
