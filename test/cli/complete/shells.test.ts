import { describe, expect, it } from 'vitest';
import type { Candidate } from '../../../src/cli/complete/candidate-sources.ts';
import { buildCompletionLines } from '../../../src/cli/complete/complete.ts';
import type { ShellLine } from '../../../src/cli/complete/shell-line.ts';

const BREAKS = ' \t\n"\'@><=;|&(:';

interface Completed extends ShellLine {
  readonly lines: readonly string[];
}

/** Returns what a shell prints when these values fit. */
async function complete(
  shell: string,
  words: readonly string[],
  ...values: readonly (string | Candidate)[]
): Promise<Completed> {
  let asked: ShellLine = { words: [], current: '' };
  const lines = await buildCompletionLines(shell, words, line => {
    asked = line;
    return Promise.resolve(values.map(value => (typeof value === 'string' ? { value } : value)));
  });
  return { ...asked, lines };
}

const bash = (left: string, ...values: readonly (string | Candidate)[]): Promise<Completed> =>
  complete('bash', [left, BREAKS], ...values);

describe('bash', () => {
  it.each([
    ['promptrun run hel', ['run'], 'hel'],
    ['promptrun run ', ['run'], ''],
    ['promptrun  "a b" c\\ d \'e"f\' x', ['a b', 'c d', 'e"f'], 'x'],
    ['FOO=1 BAR= promptrun run x', ['run'], 'x'],
    ['promptrun -i "a\\"b\\$c\\d', ['-i'], 'a"b$c\\d'],
    ["promptrun -i 'a\\b", ['-i'], 'a\\b'],
    ['promptrun $(touch x) `y` z', ['$(touch', 'x)', '`y`'], 'z'],
    ['promptrun \\', [], ''],
    ['', [], ''],
  ])('takes %j apart', async (left, words, current) => {
    expect(await bash(left)).toMatchObject({ words, current });
  });

  it('prints only the part that readline replaces', async () => {
    expect((await bash('promptrun --status=s', '--status=succeeded')).lines).toEqual([
      'succeeded ',
    ]);
    expect((await bash('promptrun -o size=16:', 'size=16:9')).lines).toEqual(['9 ']);
    expect((await bash('promptrun run hello@p', 'hello@production')).lines).toEqual([
      'production ',
    ]);
    expect((await bash('promptrun -i "a=b', 'a=b c')).lines).toEqual(['a=b c']);
    expect((await bash('promptrun -i a="b', 'a=b c')).lines).toEqual(['b c']);
    expect((await bash('promptrun -i a\\=b', 'a=b c')).lines).toEqual(['a=b\\ c ']);
    expect((await bash('promptrun -i "x y"z', 'x yz w')).lines).toEqual(['x\\ yz\\ w ']);
  });

  it('adds a space after the only candidate, unless the word continues', async () => {
    expect((await bash('promptrun r', 'run')).lines).toEqual(['run ']);
    expect((await bash('promptrun r', 'run', 'runs')).lines).toEqual(['run', 'runs']);
    expect((await bash('promptrun -i p', { value: 'place=', isPartial: true })).lines).toEqual([
      'place=',
    ]);
  });

  it('quotes whatever the shell would read anything into', async () => {
    const hostile = '$(x) `y` "z" \'w\' \\ ! * ? [a] {b} ~ # & | ; < > ( )';
    const { lines } = await bash('promptrun x', hostile, 'other');
    expect(lines[0]?.replace(/\\./gu, '')).toMatch(/^[xyzwab]*$/u);
    expect(lines[0]?.replaceAll('\\', '')).toBe(hostile.replaceAll('\\', ''));
  });

  it('quotes for the quote that is open', async () => {
    expect((await bash('promptrun "', '$x `y` "z" \\ \'w\'')).lines).toEqual([
      '\\$x \\`y\\` \\"z\\" \\\\ \'w\'',
    ]);
    expect((await bash('promptrun "', 'a!b')).lines).toEqual([`a"'!'"b`]);
    expect((await bash("promptrun '", "it's $x")).lines).toEqual(["it'\\''s $x"]);
  });

  it('leaves the tilde of a home directory to the shell', async () => {
    expect((await bash('promptrun ~/a', '~/a b.prompt')).lines).toEqual(['~/a\\ b.prompt ']);
    expect((await bash('promptrun x', '~x')).lines).toEqual(['\\~x ']);
  });
});

describe('the other shells', () => {
  const place: Candidate = {
    value: 'place=',
    description: 'where\tto\n\u001b[2J',
    isPartial: true,
  };

  it('prints values and descriptions for fish', async () => {
    const { words, current, lines } = await complete('fish', ['run', "'a b"], place, 'x y');
    expect({ words, current }).toEqual({ words: ['run'], current: 'a b' });
    expect(lines).toEqual(['place=\twhere to ^[[2J', 'x y\t']);
  });

  it('also says for zsh if the word continues', async () => {
    const { lines } = await complete('zsh', ['run', 'p'], place, 'x y');
    expect(lines).toEqual(['open\tplace=\twhere to ^[[2J', 'done\tx y\t']);
  });

  it('prints quoted words for PowerShell, and never an empty field', async () => {
    const line = Buffer.from(JSON.stringify(['run', 'a b', ''])).toString('base64');
    const completed = await complete(
      'powershell',
      [line],
      'in\\plain=1',
      "it's ‘$(x)'",
      'a,b',
      place,
    );
    expect({ words: completed.words, current: completed.current }).toEqual({
      words: ['run', 'a b'],
      current: '',
    });
    expect(completed.lines.map(text => JSON.parse(text) as unknown)).toEqual([
      ['in\\plain=1', 'in\\plain=1', 'in\\plain=1'],
      ["'it''s ‘‘$(x)'''", "it's ‘$(x)'", "it's ‘$(x)'"],
      ["'a,b'", 'a,b', 'a,b'],
      ['place=', 'place=', 'where to ^[[2J'],
    ]);
  });

  it('prints ASCII for PowerShell, whose console may have any code page', async () => {
    const line = Buffer.from(JSON.stringify(['run', ''])).toString('base64');
    const { lines } = await complete('powershell', [line], {
      value: 'grüße',
      description: '✉️ an 😀',
    });
    expect(lines.join('')).toMatch(/^[ -~]+$/u);
    expect(JSON.parse(lines[0] ?? '')).toEqual(["'grüße'", 'grüße', '✉️ an 😀']);
  });

  it('says nothing to a shell it does not know', async () => {
    expect((await complete('tcsh', ['run'], 'x')).lines).toEqual([]);
  });
});
