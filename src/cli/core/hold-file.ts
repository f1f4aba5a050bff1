import { randomUUID } from 'node:crypto';
import { readFileSync, readlinkSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { breakLock, holderOf, isAlive, releaseLock, takeLock } from './lock-file.ts';

/** How often the holder shows that it is alive, in milliseconds. */
const BEAT_MS = 10_000;
/** A lock of another machine that shows no life for this long is free. */
const STALE_AFTER_MS = 60_000;

/** Releases a file. */
export type Release = () => void;

/**
 * Holds a file for this process, against other machines on the same volume as well; gives how to let go of it, or
 * undefined where another process holds it. The lock is a file beside it, which a dead process leaves behind: it is
 * free at once for its own machine, after a minute for others.
 *
 * @throws what writing the lock throws
 */
export function holdFile(file: string): Release | undefined {
  const lock = `${file}.lock`;
  const mine = JSON.stringify({
    ...placeOf(),
    pid: process.pid,
    began: beganAt(process.pid),
    id: randomUUID(),
  });
  for (let tries = 0; tries < 3; tries++) {
    if (takeLock(lock, mine)) return release(lock, mine);
    const holder = holderOf(lock);
    if (holder !== undefined && !isFree(lock, holder)) return undefined;
    if (holder !== undefined) breakLock(lock, holder);
  }
  return undefined;
}

function release(lock: string, mine: string): Release {
  const beat = setInterval(() => {
    try {
      // Written again, so that its time is that of the volume's clock.
      if (holderOf(lock) === mine) writeFileSync(lock, mine, { flag: 'r+' });
    } catch {
      // Somebody removed it by hand; there is nothing left to show.
    }
  }, BEAT_MS).unref();
  return () => {
    clearInterval(beat);
    releaseLock(lock, mine);
  };
}

function contentOf(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}

function isFree(lock: string, holder: string): boolean {
  const { host, space, pid, began } = parsed(holder);
  const here = placeOf();
  if (host === here.host && space === here.space && typeof pid === 'number') {
    return !isAlive(pid) || beganAt(pid) !== began;
  }
  return ageOf(lock) > STALE_AFTER_MS;
}

/** By the clock of the volume, which is not always this machine's. */
function ageOf(lock: string): number {
  const probe = `${lock}.${randomUUID()}`;
  try {
    writeFileSync(probe, '');
    return statSync(probe).mtimeMs - statSync(lock).mtimeMs;
  } catch {
    return 0;
  } finally {
    rmSync(probe, { force: true });
  }
}

/** Where process ids mean the same: a machine since it was started, or a container of it. */
function placeOf(): { host: string; space: string } {
  return { host: hostname(), space: `${bootId()} ${processSpace()}` };
}

function bootId(): string {
  return contentOf('/proc/sys/kernel/random/boot_id')?.trim() ?? '';
}

function processSpace(): string {
  try {
    return readlinkSync('/proc/self/ns/pid');
  } catch {
    return '';
  }
}

/** When a process began, so that another one with its id is not taken for it; null where the system doesn't say. */
function beganAt(pid: number): string | null {
  const stat = contentOf(`/proc/${pid}/stat`);
  return stat?.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? null;
}

function parsed(holder: string): { host?: unknown; space?: unknown; pid?: unknown; began?: unknown } {
  try {
    return (JSON.parse(holder) ?? {}) as object;
  } catch {
    // Its holder is just writing it.
    return {};
  }
}
