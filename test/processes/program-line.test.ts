import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { buildProgramLine, UnsafeArgumentError } from '../../src/processes/program-line.ts';
import { createTemporaryDirectory } from '../support/context.ts';

let home = '';

beforeEach(() => {
  home = createTemporaryDirectory();
  for (const name of ['tool.exe', 'batch.cmd']) writeFileSync(path.join(home, name), '');
});

function buildWindowsLine(
  argv: readonly [string, ...string[]],
  filled: readonly number[] = [],
): string {
  const env = { Path: home, SystemRoot: 'C:\\Windows' };
  const { file, args } = buildProgramLine(
    { argv, filledIndexes: new Set(filled), directory: '/', env },
    'win32',
  );
  return [file, ...args].join(' ').replaceAll(home + path.sep, 'HOME/');
}

describe('what starts a program on Windows', () => {
  it('is the program itself, whose arguments nothing reads', () => {
    expect(buildWindowsLine(['tool', 'a b', '%x%'], [1, 2])).toBe('HOME/tool.exe a b %x%');
  });

  it('is cmd.exe for a batch file, and every character that it reads is escaped', () => {
    expect(buildWindowsLine(['batch', 'a b', '100%', 'say "hi"', 'dir\\'])).toBe(
      String.raw`C:\Windows\System32\cmd.exe /d /s /c "^"HOME/batch.cmd^" ^"a^ b^" ^"100^%^" ^"say^ \^"hi\^"^" ^"dir\\^""`,
    );
  });

  it.each(['%', '!', '"', '&', '|', '<', '>', '^', '\n', '\r'])(
    'refuses a filled argument with %j for a batch file, and says what to do',
    character => {
      expect(() => buildWindowsLine(['batch', '--', `a${character}b`], [2])).toThrow(
        UnsafeArgumentError,
      );
      expect(() => buildWindowsLine(['batch', '--', `a${character}b`], [2])).toThrow(
        'standard input',
      );
    },
  );

  it('passes a batch file only what cmd.exe reads literally', () => {
    expect(buildWindowsLine(['batch', "it's (one) day, ok?"], [1])).toContain(
      "it's^ ^(one^)^ day^,^ ok^?",
    );
  });

  it('refuses a line break that no quoting keeps', () => {
    expect(() => buildWindowsLine(['batch', 'a\nb'])).toThrow('a line break');
  });

  it('is looked for in PATH alone', () => {
    writeFileSync(path.join(home, 'only.exe'), '');
    const start = { argv: ['only'] as const, directory: home, env: { Path: '.' } };
    expect(() => buildProgramLine(start, 'win32')).toThrow('no program of that name in PATH');
  });
});
