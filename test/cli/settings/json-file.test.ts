import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { JsonFile } from '../../../src/cli/settings/json-file.ts';
import { createTemporaryDirectory, testClock } from '../../support/context.ts';

const jsonFile = (file: string) =>
  new JsonFile<{ n?: number }>(file, testClock(), document => document);

it('leaves signals to the command when it writes', async () => {
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
  const listeners = (): number =>
    signals.reduce((sum, signal) => sum + process.listenerCount(signal), 0);
  const before = listeners();
  await jsonFile(path.join(createTemporaryDirectory(), 'file.json')).update(() => undefined);
  expect(listeners()).toBe(before);
});

it('holds the lock while the change is made, and releases it', async () => {
  const file = path.join(createTemporaryDirectory(), 'new', 'file.json');
  const wasLocked = await jsonFile(file).update(content => {
    content.n = 1;
    return existsSync(`${file}.lock`);
  });

  expect(wasLocked).toBe(true);
  expect(existsSync(`${file}.lock`)).toBe(false);
  expect(jsonFile(file).read()).toEqual({ n: 1 });
});

it('releases the lock if the change fails', async () => {
  const directory = createTemporaryDirectory();
  const update = jsonFile(path.join(directory, 'file.json')).update(() => {
    throw new Error('no');
  });
  await expect(update).rejects.toThrow('no');
  expect(readdirSync(directory)).toEqual([]);
});

it('fails at once if its directory is a file', async () => {
  const directory = path.join(createTemporaryDirectory(), 'file');
  writeFileSync(directory, '');
  const update = jsonFile(path.join(directory, 'config.json')).update(() => undefined);
  await expect(update).rejects.toThrow(`${directory} can't be made: `);
});

it('does not wait for a lock forever', async () => {
  const file = path.join(createTemporaryDirectory(), 'file.json');
  writeFileSync(`${file}.lock`, JSON.stringify({ host: 'elsewhere' }));
  await expect(jsonFile(file).update(() => 'never')).rejects.toThrow(`${file}.lock is held`);
});

it('changes nothing in a damaged file', async () => {
  const file = path.join(createTemporaryDirectory(), 'file.json');
  writeFileSync(file, '{"n": ');
  const update = jsonFile(file).update(content => {
    content.n = 2;
  });
  await expect(update).rejects.toThrow(`${file} is damaged`);
  expect(readFileSync(file, 'utf8')).toBe('{"n": ');
});
