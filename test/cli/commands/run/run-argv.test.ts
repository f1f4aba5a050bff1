import { execFileSync } from 'node:child_process';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  buildRunArgv,
  formatShellCommand,
  type RunFlags,
} from '../../../../src/cli/commands/run/run-argv.ts';
import { anyText } from '../../../support/any-text.ts';
import { testContext } from '../../../support/context.ts';
import { isPosix } from '../../../support/system.ts';

const FLAGS: RunFlags = {
  input: ['place=Rome'],
  image: [],
  option: [],
  validate: true,
  wait: true,
  stream: true,
  preview: true,
};

describe('buildRunArgv', () => {
  it('repeats every flag without which the run would fail or differ', async () => {
    const { ctx } = await testContext({});
    const globals = { ...ctx.globals, models: 'm.yaml', allowOutside: true, allowPrivate: true };
    const flags = { ...FLAGS, open: true, wait: false };
    const answers = { text: [['mood', '@home'] as const], images: ['cat.png'] };

    expect(buildRunArgv(globals, 'postcard', flags, answers)).toEqual([
      'promptrun',
      'run',
      'postcard',
      '-i',
      'place=Rome',
      '-i',
      'mood=@@home',
      '--image',
      'cat.png',
      '--models',
      'm.yaml',
      '--no-wait',
      '--open',
      '--allow-outside',
      '--allow-private',
    ]);
  });
});

describe('formatShellCommand', () => {
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

  it('returns one line without control characters', () => {
    expect(formatShellCommand(['a\nb', '\u001b[2J', '\u202e'], 'posix')).toBe(
      "$'a\\012b' $'\\033[2J' $'\\342\\200\\256'",
    );
  });

  it('returns undefined if an argument contains a NUL, which none can', () => {
    expect(formatShellCommand(['a\0b'], 'posix')).toBeUndefined();
  });

  it.runIf(isPosix)(
    'returns a line that a shell reads back as the same words, whatever they contain',
    () => {
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
      const words = fc.sample(
        fc.array(word.filter(isArgument), { minLength: 1, maxLength: 4 }),
        300,
      );
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
    },
  );
});

function isArgument(text: string): boolean {
  return !text.includes('\0') && !text.includes('\u0001');
}
