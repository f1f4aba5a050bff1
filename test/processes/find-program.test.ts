import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { findProgram, resolveProgram } from '../../src/processes/find-program.ts';
import { withoutKeys } from '../../src/processes/program-environment.ts';
import { getWindowsProgramPath } from '../../src/processes/system-programs.ts';
import { createTemporaryDirectory } from '../support/context.ts';
import { isPosix } from '../support/system.ts';

let home = '';

beforeEach(() => {
  home = createTemporaryDirectory();
  for (const name of ['a/tool', 'b/tool', 'b/only', 'a/plain', 'a/folder/x']) {
    mkdirSync(path.dirname(path.join(home, name)), { recursive: true });
    writeFileSync(path.join(home, name), '');
    chmodSync(path.join(home, name), name === 'a/plain' ? 0o644 : 0o755);
  }
});

describe.runIf(isPosix)('a program', () => {
  /** Names the folders a and b, and before them relative ones, which are passed over. */
  const createEnv = (): Record<string, string> => ({
    PATH: ['.', '', 'a', path.join(home, 'a'), path.join(home, 'b')].join(path.delimiter),
  });

  it.each([
    { name: 'tool', place: 'a/tool' },
    { name: 'only', place: 'b/only' },
  ])('$name is found at $place', ({ name, place }) => {
    expect(findProgram(name, createEnv(), 'linux')).toBe(path.join(home, place));
  });

  it.each([
    { name: 'plain', reason: 'nobody may execute it' },
    { name: 'folder', reason: 'it is a folder' },
    { name: 'missing', reason: 'no folder has it' },
  ])('$name is not found, because $reason', ({ name }) => {
    expect(findProgram(name, createEnv(), 'linux')).toBeUndefined();
  });

  it('is not looked for in the working directory', () => {
    expect(findProgram('node', { PATH: '.::bin' }, 'linux')).toBeUndefined();
    expect(findProgram('node', {}, 'linux')).toBeUndefined();
  });
});

describe('a program on Windows', () => {
  const createEnv = (): Record<string, string> => ({
    Path: ['.', path.join(home, 'a'), path.join(home, 'b')].join(';'),
    PATHEXT: '.COM;.EXE;.BAT;.CMD;.VBS',
  });

  const write = (...names: readonly string[]): void => {
    for (const name of names) writeFileSync(path.join(home, name), '');
  };

  it('is found by the endings of PATHEXT, in their order, and never without one', () => {
    write('b/npm', 'b/npm.cmd', 'a/both.cmd', 'a/both.exe', 'a/script.vbs');
    expect(findProgram('npm', createEnv(), 'win32')).toBe(path.join(home, 'b/npm.cmd'));
    expect(findProgram('both', createEnv(), 'win32')).toBe(path.join(home, 'a/both.exe'));
    expect(findProgram('both.cmd', createEnv(), 'win32')).toBe(path.join(home, 'a/both.cmd'));
    expect(findProgram('script', createEnv(), 'win32')).toBeUndefined();
    expect(findProgram('tool', createEnv(), 'win32')).toBeUndefined();
  });

  it('is found by a path relative to its working directory, and never there by a bare name', () => {
    write('check.cmd');
    expect(resolveProgram('./check', home, createEnv(), 'win32')).toBe(
      path.join(home, 'check.cmd'),
    );
    expect(resolveProgram('check', home, createEnv(), 'win32')).toBeUndefined();
  });

  it.runIf(isPosix)(
    'of the store is found, though nothing but its start can follow the link to it',
    () => {
      symlinkSync('python3.exe', path.join(home, 'b/python3.exe'));
      symlinkSync('gone.exe', path.join(home, 'a/ruby.exe'));
      expect(findProgram('python3', createEnv(), 'win32')).toBe(path.join(home, 'b/python3.exe'));
      expect(findProgram('ruby', createEnv(), 'win32')).toBeUndefined();
    },
  );

  it('of the system itself has its full path', () => {
    expect(getWindowsProgramPath('cmd.exe', { SystemRoot: 'D:\\Windows' })).toBe(
      'D:\\Windows\\System32\\cmd.exe',
    );
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
  expect(withoutKeys(env, ['OPENAI_API_KEY', 'MINE'])).toEqual({ HOME: '/' });
});
