import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { withLock } from '../../../src/cli/settings/lock.ts';
import { temporaryDirectory, testClock } from '../../support/context.ts';

it('holds the lock while the work is done, and not after, also when the work fails', async () => {
  const file = path.join(temporaryDirectory(), 'new', 'file.json');
  const held = await withLock(file, testClock(), () => existsSync(`${file}.lock`));
  expect([held, existsSync(`${file}.lock`)]).toEqual([true, false]);
  const failing = withLock(file, testClock(), () => {
    throw new Error('no');
  });
  await expect(failing).rejects.toThrow('no');
  expect(readdirSync(path.dirname(file))).toEqual([]);
});

it('says at once that a directory is a file', async () => {
  const directory = path.join(temporaryDirectory(), 'file');
  writeFileSync(directory, '');
  const locked = withLock(path.join(directory, 'config.json'), testClock(), () => undefined);
  await expect(locked).rejects.toThrow(`${directory} can't be made: `);
});

it('does not wait for ever', async () => {
  const file = path.join(temporaryDirectory(), 'file.json');
  mkdirSync(`${file}.lock`);
  await expect(withLock(file, testClock(), () => 'never')).rejects.toThrow(`${file}.lock is held`);
});
