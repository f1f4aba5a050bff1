import { existsSync, readFileSync, utimesSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { holdFile } from '../../../src/cli/core/hold-file.ts';
import { temporaryDirectory } from '../../support/context.ts';

const held = (): { file: string; lock: string } => {
  const file = path.join(temporaryDirectory(), 'results.jsonl');
  return { file, lock: `${file}.lock` };
};

it('holds a file until it is let go of', () => {
  const { file, lock } = held();
  const release = holdFile(file);
  expect(release).toBeDefined();
  expect(holdFile(file)).toBeUndefined();
  release?.();
  expect(existsSync(lock)).toBe(false);
  holdFile(file)?.();
});

it('takes over at once from a process of this machine that is dead, or whose id is now another process', () => {
  const { file, lock } = held();
  holdFile(file)?.();
  const release = holdFile(file);
  const holder = JSON.parse(readFileSync(lock, 'utf8')) as object;
  release?.();
  for (const dead of [{ pid: 2 ** 30 }, { began: '1' }]) {
    writeFileSync(lock, JSON.stringify({ ...holder, ...dead }));
    const taken = holdFile(file);
    expect(taken).toBeDefined();
    taken?.();
  }
});

it('takes over from another machine or container only after a minute without a sign of life', () => {
  const { file, lock } = held();
  writeFileSync(lock, JSON.stringify({ host: 'elsewhere', space: 'x', pid: 1, began: null }));
  expect(holdFile(file)).toBeUndefined();
  const longAgo = new Date(Date.now() - 61_000);
  utimesSync(lock, longAgo, longAgo);
  const taken = holdFile(file);
  expect(taken).toBeDefined();
  taken?.();
});
