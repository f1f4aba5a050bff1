import { execFileSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { isWritable, shellOf, shellWord } from '../../../src/cli/terminal/shell-word.ts';

describe('the shell of a command', () => {
  it.each([
    ['linux', {}, 'posix'],
    ['darwin', { PROMPT: 'x' }, 'posix'],
    ['win32', { PROMPT: '$P$G' }, 'cmd'],
    ['win32', { PROMPT: '$P$G', MSYSTEM: 'MINGW64' }, 'posix'],
    ['win32', { POWERSHELL_DISTRIBUTION_CHANNEL: 'MSI:Windows 10' }, 'powershell'],
    ['win32', {}, 'windows-powershell'],
  ] as const)('on %s with %j is %s', (platform, env, shell) => {
    expect(shellOf(env, platform)).toBe(shell);
  });
});

describe('a word of a command line', () => {
  it.each([
    ['C:\\Users\\Ada\\note.prompt', 'C:\\Users\\Ada\\note.prompt'],
    ['C:\\My files\\a.prompt', '"C:\\My files\\a.prompt"'],
    ['C:\\My files\\', '"C:\\My files\\\\"'],
    ['a & b', '"a & b"'],
    ['100%', '^"100^%^"'],
    ['say "hi"', '^"say \\^"hi\\^"^"'],
    ['', '""'],
  ])('is written for cmd.exe: %s', (word, written) => {
    expect(shellWord(word, 'cmd')).toBe(written);
  });

  it.each([
    ['C:\\Users\\Ada\\note.prompt', 'C:\\Users\\Ada\\note.prompt'],
    ["it's $x `y`", "'it''s $x `y`'"],
    ['it’s', "'it’’s'"],
    ['say "hi"', `'say "hi"'`],
    ['@file', "'@file'"],
    ['a\nb', "([string]::Concat('a',[char]::ConvertFromUtf32(10),'b'))"],
    ['', "''"],
  ])('is written for PowerShell: %s', (word, written) => {
    expect(shellWord(word, 'powershell')).toBe(written);
  });

  it('escapes quotes and the empty word for Windows PowerShell, which passes them on as they are', () => {
    expect(shellWord('say "hi"', 'windows-powershell')).toBe(`'say \\"hi\\"'`);
    expect(shellWord('', 'windows-powershell')).toBe(`'""'`);
  });

  it('with a line break is none for cmd.exe', () => {
    expect([isWritable('a\nb', 'cmd'), isWritable('a\nb', 'powershell'), isWritable('a\0', 'posix')]).toEqual(
      [false, true, false],
    );
    expect(shellWord('a\nb', 'cmd')).not.toContain('\n');
  });

  it('is written so that either shell of Windows reads it, if its environment is not known', () => {
    expect(shellOf(undefined, 'win32')).toBe('any-of-windows');
    expect(shellWord('C:\\My files\\a.prompt', 'any-of-windows')).toBe('"C:\\My files\\a.prompt"');
  });

  it.runIf(process.platform !== 'win32')('is read back by sh as it was', () => {
    const words = ['a b', "it's", '$x `y` "z"', 'a\nb', '', '*', '~', '\u001b[31m'];
    const line = `printf '%s\\0' ${words.map(word => shellWord(word, 'posix')).join(' ')}`;
    expect(execFileSync('bash', ['-c', line]).toString().split('\0').slice(0, -1)).toEqual(words);
  });
});
