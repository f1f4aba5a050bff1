import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { DEATH_DELAY_MS, lockFile, waitForLock } from '../../../src/files/writing/lock.ts';
import { toContainedPath } from '../../../src/files/writing/write-below.ts';
import { createTemporaryDirectory, testClock } from '../../support/context.ts';

const createLockable = (): { file: string; lock: string } => {
  const file = path.join(createTemporaryDirectory(), 'results.jsonl');
  return { file, lock: `${file}.lock` };
};

/** Leaves the lock of this process behind, with something changed. */
function leaveLock(file: string, fields: object): void {
  const release = lockFile(toContainedPath(file));
  const holder = JSON.parse(readFileSync(`${file}.lock`, 'utf8')) as object;
  release?.();
  writeFileSync(`${file}.lock`, JSON.stringify({ ...holder, ...fields }));
}

/** Makes a lock look as if its holder had shown no sign of life for a minute. */
function makeLockStale(lock: string): void {
  const overAMinuteAgo = new Date(Date.now() - 61_000);
  utimesSync(lock, overAMinuteAgo, overAMinuteAgo);
}

describe('the lock of a file', () => {
  it('is held until it is released, and leaves nothing behind', () => {
    const { file, lock } = createLockable();
    const release = lockFile(toContainedPath(file));

    expect(release).toBeDefined();
    expect(lockFile(toContainedPath(file))).toBeUndefined();

    release?.();
    expect(existsSync(lock)).toBe(false);

    lockFile(toContainedPath(file))?.();
    expect(readdirSync(path.dirname(file))).toEqual([]);
  });

  it.each([{ pid: 2 ** 30 }, { began: '1' }])(
    'is free at once if its process is dead: %o',
    fields => {
      const { file } = createLockable();
      leaveLock(file, fields);
      const release = lockFile(toContainedPath(file));
      expect(release).toBeDefined();
      release?.();
    },
  );

  it.runIf(process.platform === 'linux')(
    'is free at once if its process was killed and nobody asks how it ended',
    async () => {
      const { file } = createLockable();
      const parent = spawn('sh', ['-c', 'sleep 60 & echo $!; exec sleep 60']);
      const [line] = (await once(parent.stdout, 'data')) as [Buffer];
      const pid = Number(line);

      // A shell may ask how its child ended, but the program that takes its place doesn't.
      await expect.poll(() => readFileSync(`/proc/${parent.pid}/comm`, 'utf8')).toBe('sleep\n');

      leaveLock(file, { pid, began: null });
      expect(lockFile(toContainedPath(file))).toBeUndefined();

      process.kill(pid, 'SIGKILL');
      await expect.poll(() => readFileSync(`/proc/${pid}/stat`, 'utf8')).toContain(') Z ');

      const release = lockFile(toContainedPath(file));
      expect(release).toBeDefined();

      release?.();
      parent.kill();
    },
  );

  it.each(['', '{"host":"he', '\0\0\0'])(
    'is free within a second if its process was killed as it wrote it: %j',
    incompleteLock => {
      const { file, lock } = createLockable();
      writeFileSync(lock, incompleteLock);

      expect(lockFile(toContainedPath(file))).toBeUndefined();

      // The time of the lock is by the clock of the volume, which a test can't turn.
      const aWhileAgo = new Date(Date.now() - 600);
      utimesSync(lock, aWhileAgo, aWhileAgo);
      const release = lockFile(toContainedPath(file));

      expect(release).toBeDefined();

      release?.();
    },
  );

  it.each(['# a lock file of another program\n', '5', '[]'])(
    'is refused, and the file stays, if the file of its name is not a lock: %j',
    text => {
      const { file, lock } = createLockable();
      writeFileSync(lock, text);
      makeLockStale(lock);
      expect(() => lockFile(toContainedPath(file))).toThrow(`${lock} is not a lock`);
      expect(readFileSync(lock, 'utf8')).toBe(text);
    },
  );

  it('of another machine or container is free only after a minute without a sign of life', () => {
    const { file, lock } = createLockable();
    writeFileSync(lock, JSON.stringify({ host: 'elsewhere', space: 'x', pid: 1, began: null }));

    expect(lockFile(toContainedPath(file))).toBeUndefined();

    makeLockStale(lock);
    const release = lockFile(toContainedPath(file));

    expect(release).toBeDefined();

    release?.();
  });
});

describe('the lock of a file if the system does not say when a process began', () => {
  const readNoStartTime = (): null => null;

  it('is held for as long as its process shows life, and free after a minute without', () => {
    const { file, lock } = createLockable();
    const release = lockFile(toContainedPath(file), readNoStartTime);

    expect(release).toBeDefined();
    expect(lockFile(toContainedPath(file), readNoStartTime)).toBeUndefined();

    // Simulates that another process has the id by now.
    makeLockStale(lock);
    const second = lockFile(toContainedPath(file), readNoStartTime);

    expect(second).toBeDefined();

    second?.();
    release?.();
  });
});

describe('waiting for a lock', () => {
  it('ends after a second if no longer wait is worth it', async () => {
    const { file } = createLockable();
    const release = lockFile(toContainedPath(file));
    const clock = testClock();
    const began = clock.now();

    expect(await waitForLock(toContainedPath(file), clock, DEATH_DELAY_MS)).toBeUndefined();
    expect(clock.now() - began).toBeGreaterThanOrEqual(1000);
    expect(clock.now() - began).toBeLessThan(2000);

    release?.();
  });

  it('ends once the holder is gone', async () => {
    const { file } = createLockable();
    const release = lockFile(toContainedPath(file));

    const clock = testClock();
    let sleepCount = 0;
    const sleep = async (ms: number): Promise<void> => {
      sleepCount += 1;
      if (sleepCount === 3) release?.();
      await clock.sleep(ms);
    };

    const second = await waitForLock(toContainedPath(file), {
      sleep,
      random: () => clock.random(),
    });
    expect(second).toBeDefined();
    expect(sleepCount).toBe(3);

    second?.();
  });

  it('fails if something else has the name of the lock', async () => {
    const { file, lock } = createLockable();
    mkdirSync(lock);
    await expect(waitForLock(toContainedPath(file), testClock())).rejects.toThrow(
      `${lock} is not a lock`,
    );
  });

  it('is abandoned after more than a minute', async () => {
    const { file } = createLockable();
    const release = lockFile(toContainedPath(file));
    const clock = testClock();
    const began = clock.now();
    expect(await waitForLock(toContainedPath(file), clock)).toBeUndefined();
    expect(clock.now() - began).toBeGreaterThan(60_000);
    release?.();
  });
});
