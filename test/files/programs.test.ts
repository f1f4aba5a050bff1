import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { environmentWithoutKeys, findProgram } from '../../src/files/programs.ts';
import { temporaryDirectory } from '../support/context.ts';

let home = '';
beforeEach(() => {
  home = temporaryDirectory();
  for (const name of ['a/tool', 'b/tool', 'b/only', 'a/plain', 'a/folder/x']) {
    mkdirSync(path.dirname(path.join(home, name)), { recursive: true });
    writeFileSync(path.join(home, name), '');
    chmodSync(path.join(home, name), name === 'a/plain' ? 0o644 : 0o755);
  }
});

describe('a program', () => {
  it.each([
    ['tool', 'a/tool'],
    ['only', 'b/only'],
    ['plain', undefined],
    ['folder', undefined],
    ['missing', undefined],
  ])('%s is found at %s', (name, found) => {
    const env = { PATH: ['.', '', 'a', path.join(home, 'a'), path.join(home, 'b')].join(path.delimiter) };
    expect(findProgram(name, env, 'linux')).toBe(found && path.join(home, found));
  });

  it('is not looked for in the working directory', () => {
    expect(findProgram('node', { PATH: '.::bin' }, 'linux')).toBeUndefined();
    expect(findProgram('node', {}, 'linux')).toBeUndefined();
  });
});

it('keeps keys from a program, whatever their case of letters', () => {
  const env = {
    OPENAI_API_KEY: 'a',
    mine: 'b',
    PROMPTRUN_API_KEY: 'c',
    promptrun_x: 'd',
    HOME: '/',
    E: undefined,
  };
  expect(environmentWithoutKeys(env, ['OPENAI_API_KEY', 'MINE'])).toEqual({ HOME: '/' });
});
