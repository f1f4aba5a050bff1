import { execFileSync } from 'node:child_process';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { formatShellCommand } from '../../../../src/cli/commands/run/run-argv.ts';
import { anyText } from '../../../support/any-text.ts';
import { isPosix } from '../../../support/system.ts';

describe('the command that repeats a run', () => {
  it('quotes only what needs it', () => {
    expect(
      formatShellCommand(
        ['promptrun', 'run', 'hello', '-i', 'name=Ada', '-i', "who=it's me"],
        'posix',
      ),
    ).toBe("promptrun run hello -i name=Ada -i 'who=it'\\''s me'");
    expect(formatShellCommand(['', '~', '=ls', '$(x)', 'a b'], 'posix')).toBe(
      "'' '~' '=ls' '$(x)' 'a b'",
    );
  });

  it('stays one line that drives no terminal', () => {
    expect(formatShellCommand(['a\nb', '\u001b[2J', '\u202e'], 'posix')).toBe(
      "$'a\\012b' $'\\033[2J' $'\\342\\200\\256'",
    );
  });

  it('does not pretend that an argument could hold a NUL', () => {
    expect(formatShellCommand(['a\0b'], 'posix')).toBeUndefined();
  });

  it.runIf(isPosix)('is read back by a shell as the same words, whatever they hold', () => {
    const word = fc.oneof(
      anyText(),
      fc.string({
        unit: fc.constantFrom(
          "'",
          '"',
          '\\',
          '$',
          '`',
          '!',
          '\n',
          '\t',
          '\u0085',
          'é',
          '%',
          '0',
          '晴',
        ),
      }),
    );
    const words = fc.sample(fc.array(word.filter(isArgument), { minLength: 1, maxLength: 4 }), 300);
    const lines = words.map(
      list => `printf '%s\\0' ${formatShellCommand(list, 'posix')}; printf '\\1\\0'`,
    );
    const read = execFileSync('bash', ['-s'], {
      input: lines.join('\n'),
      env: { ...process.env, LC_ALL: 'C' },
    })
      .toString()
      .split('\u0001\0')
      .map(list => list.split('\0').slice(0, -1));

    expect(read.slice(0, -1)).toEqual(words);
  });
});

function isArgument(text: string): boolean {
  return !text.includes('\0') && !text.includes('\u0001');
}
