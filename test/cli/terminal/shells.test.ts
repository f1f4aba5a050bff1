import { execFileSync, spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { withStdinFrom } from '../../../src/cli/terminal/command-line.ts';
import { detectShell, isWritable, quoteIfNeeded } from '../../../src/cli/terminal/shell-words.ts';
import { getWindowsProgramPath } from '../../../src/processes/system-programs.ts';
import { createTemporaryDirectory } from '../../support/context.ts';

const WINDOWS_POWERSHELL = getWindowsProgramPath(
  String.raw`WindowsPowerShell\v1.0\powershell.exe`,
  process.env,
);

// Wine's is a stub that prints nothing.
const hasWindowsPowerShell = process.platform === 'win32' && printsBack(WINDOWS_POWERSHELL);

function printsBack(shell: string): boolean {
  const { stdout } = spawnSync(shell, ['-NoProfile', '-Command', 'echo here'], {
    encoding: 'utf8',
    timeout: 20_000,
  });
  return stdout?.trim() === 'here';
}

/** Returns a command and a batch file that print their arguments as JSON. */
function writeArgumentPrinter(): { program: string; batch: string } {
  const folder = createTemporaryDirectory();
  const [script, batch] = [path.join(folder, 'print.cjs'), path.join(folder, 'print.cmd')];
  writeFileSync(script, 'process.stdout.write(JSON.stringify(process.argv.slice(2)));\n');
  const program = `"${process.execPath}" "${script}"`;
  writeFileSync(batch, `@${program} %*\r\n`);
  return { program, batch };
}

describe('the shell of a command', () => {
  it.each([
    { platform: 'linux', env: {}, shell: 'posix' },
    { platform: 'darwin', env: { PROMPT: 'x' }, shell: 'posix' },
    { platform: 'win32', env: { PROMPT: '$P$G' }, shell: 'cmd' },
    { platform: 'win32', env: { PROMPT: '$P$G', MSYSTEM: 'MINGW64' }, shell: 'posix' },
    {
      platform: 'win32',
      env: { POWERSHELL_DISTRIBUTION_CHANNEL: 'MSI:Windows 10' },
      shell: 'powershell',
    },
    { platform: 'win32', env: {}, shell: 'windows-powershell' },
  ] as const)('on $platform with $env is $shell', ({ platform, env, shell }) => {
    expect(detectShell(env, platform)).toBe(shell);
  });
});

describe('a word of a command line', () => {
  it.each([
    ['C:\\Users\\Ada\\note.prompt', 'C:\\Users\\Ada\\note.prompt'],
    ['C:\\My files\\a.prompt', '"C:\\My files\\a.prompt"'],
    ['C:\\My files\\', '"C:\\My files\\\\"'],
    ['a & b', '"a & b"'],
    ['100%', '"100"^%'],
    ['%PATH%!', '^%"PATH"^%^!'],
    ['C:\\My files\\%a', '"C:\\My files\\\\"^%"a"'],
    ['say "hi"', '"say ""hi"""'],
    ['a" & calc', '"a"" & calc"'],
    ['a\\" & calc', '"a\\\\"" & calc"'],
    ['', '""'],
  ])('is written for cmd.exe: %s', (word, quoted) => {
    expect(quoteIfNeeded(word, 'cmd')).toBe(quoted);
  });

  it.each([
    ['C:\\Users\\Ada\\note.prompt', 'C:\\Users\\Ada\\note.prompt'],
    ["it's $x `y`", "'it''s $x `y`'"],
    ['it’s', "'it’’s'"],
    ['say "hi"', `'say "hi"'`],
    ['@file', "'@file'"],
    ['a,b', "'a,b'"],
    ['-a.prompt', "'-a.prompt'"],
    ['--max-cost=0.5', '--max-cost=0.5'],
    ['a\nb', "([string]::Concat('a',[char]::ConvertFromUtf32(10),'b'))"],
    ['', "''"],
  ])('is written for PowerShell: %s', (word, quoted) => {
    expect(quoteIfNeeded(word, 'powershell')).toBe(quoted);
  });

  it('escapes quotes and the empty word for Windows PowerShell, which passes them on as they are', () => {
    expect(quoteIfNeeded('say "hi"', 'windows-powershell')).toBe(`'say \\"hi\\"'`);
    expect(quoteIfNeeded('', 'windows-powershell')).toBe(`'""'`);
  });

  it("with a line break can't be written for cmd.exe", () => {
    expect([
      isWritable('a\nb', 'cmd'),
      isWritable('a\nb', 'powershell'),
      isWritable('a\0', 'posix'),
    ]).toEqual([false, true, false]);
    expect(quoteIfNeeded('a\nb', 'cmd')).not.toContain('\n');
  });

  it('names a file that a command reads from standard input', () => {
    const commands = (['posix', 'cmd', 'powershell'] as const).map(shell =>
      withStdinFrom('my key.txt', 'promptrun login', shell),
    );
    expect(commands).toEqual([
      "promptrun login < 'my key.txt'",
      'type "my key.txt" | promptrun login',
      "type 'my key.txt' | promptrun login",
    ]);
  });

  it('is written so that either shell of Windows reads it, if its environment is not known', () => {
    expect(detectShell(undefined, 'win32')).toBe('any-of-windows');
    expect(quoteIfNeeded('C:\\My files\\a.prompt', 'any-of-windows')).toBe(
      '"C:\\My files\\a.prompt"',
    );
  });

  it.runIf(process.platform === 'win32')(
    'is read back unchanged by cmd.exe, and by a batch file',
    () => {
      const words = [
        'a b',
        "it's",
        '100%',
        '%PATH%!',
        'say "hi" & echo',
        'C:\\My files\\',
        'a^b',
        '',
      ];
      const { program, batch } = writeArgumentPrinter();
      // Wine expands the arguments of a batch file again.
      for (const [command, passed] of [
        [program, words],
        [`"${batch}"`, words.filter(word => !word.includes('%'))],
      ] as const) {
        const line = passed.map(word => quoteIfNeeded(word, 'cmd')).join(' ');
        const { stdout } = spawnSync(
          getWindowsProgramPath('cmd.exe', process.env),
          ['/d', '/s', '/c', `"${command} ${line}"`],
          { windowsVerbatimArguments: true, encoding: 'utf8' },
        );
        expect([command, JSON.parse(stdout)]).toEqual([command, passed]);
      }
    },
  );

  it.runIf(hasWindowsPowerShell)('is read back unchanged by Windows PowerShell', () => {
    const words = ['a b', "it's", '$x `y` "z"', '@file', 'a,b', '-a.prompt', '100%', 'a & b', ''];
    const { program } = writeArgumentPrinter();
    const line = words.map(word => quoteIfNeeded(word, 'windows-powershell')).join(' ');
    const encoded = Buffer.from(`& ${program} ${line}`, 'utf16le').toString('base64');
    const output = execFileSync(
      WINDOWS_POWERSHELL,
      ['-NoProfile', '-NonInteractive', '-EncodedCommand', encoded],
      { encoding: 'utf8' },
    );

    expect(JSON.parse(output)).toEqual(words);
  });

  it.runIf(process.platform !== 'win32')('is read back unchanged by sh', () => {
    const words = ['a b', "it's", '$x `y` "z"', 'a\nb', '', '*', '~', '\u001b[31m'];
    const line = `printf '%s\\0' ${words.map(word => quoteIfNeeded(word, 'posix')).join(' ')}`;
    expect(execFileSync('bash', ['-c', line]).toString().split('\0').slice(0, -1)).toEqual(words);
  });
});
