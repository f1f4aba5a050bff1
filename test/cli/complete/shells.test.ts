import { describe, expect, it } from 'vitest';
import type { Candidate } from '../../../src/cli/complete/candidate-sources.ts';
import { completeForShell } from '../../../src/cli/complete/complete.ts';
import type { ShellLine } from '../../../src/cli/complete/shell-line.ts';

/** The default COMP_WORDBREAKS of bash. */
const WORD_BREAKS = ' \t\n"\'@><=;|&(:';

interface CompletedLine extends ShellLine {
  readonly lines: readonly string[];
}

/** Returns the parsed line, and the lines for the shell if these values are the candidates. */
async function complete(
  shell: string,
  words: readonly string[],
  ...values: readonly (string | Candidate)[]
): Promise<CompletedLine> {
  let parsedLine: ShellLine = { words: [], current: '' };
  const lines = await completeForShell(shell, words, line => {
    parsedLine = line;
    return Promise.resolve(values.map(value => (typeof value === 'string' ? { value } : value)));
  });
  return { ...parsedLine, lines };
}

const completeInBash = (
  lineBeforeCursor: string,
  ...values: readonly (string | Candidate)[]
): Promise<CompletedLine> => complete('bash', [lineBeforeCursor, WORD_BREAKS], ...values);

describe('bash', () => {
  it.each([
    { lineBeforeCursor: 'promptrun run hel', words: ['run'], current: 'hel' },
    { lineBeforeCursor: 'promptrun run ', words: ['run'], current: '' },
    {
      lineBeforeCursor: 'promptrun  "a b" c\\ d \'e"f\' x',
      words: ['a b', 'c d', 'e"f'],
      current: 'x',
    },
    { lineBeforeCursor: 'FOO=1 BAR= promptrun run x', words: ['run'], current: 'x' },
    { lineBeforeCursor: 'promptrun -i "a\\"b\\$c\\d', words: ['-i'], current: 'a"b$c\\d' },
    { lineBeforeCursor: "promptrun -i 'a\\b", words: ['-i'], current: 'a\\b' },
    {
      lineBeforeCursor: 'promptrun $(touch x) `y` z',
      words: ['$(touch', 'x)', '`y`'],
      current: 'z',
    },
    { lineBeforeCursor: 'promptrun \\', words: [], current: '' },
    { lineBeforeCursor: '', words: [], current: '' },
  ])('parses $lineBeforeCursor', async ({ lineBeforeCursor, words, current }) => {
    expect(await completeInBash(lineBeforeCursor)).toMatchObject({ words, current });
  });

  it('prints only the part of a word that readline replaces', async () => {
    expect((await completeInBash('promptrun --status=s', '--status=succeeded')).lines).toEqual([
      'succeeded ',
    ]);
    expect((await completeInBash('promptrun -o size=16:', 'size=16:9')).lines).toEqual(['9 ']);
    expect((await completeInBash('promptrun run hello@p', 'hello@production')).lines).toEqual([
      'production ',
    ]);
    expect((await completeInBash('promptrun -i "a=b', 'a=b c')).lines).toEqual(['a=b c']);
    expect((await completeInBash('promptrun -i a="b', 'a=b c')).lines).toEqual(['b c']);
    expect((await completeInBash('promptrun -i a\\=b', 'a=b c')).lines).toEqual(['a=b\\ c ']);
    expect((await completeInBash('promptrun -i "x y"z', 'x yz w')).lines).toEqual(['x\\ yz\\ w ']);
  });

  it('adds a space after the only candidate, unless the word continues', async () => {
    expect((await completeInBash('promptrun r', 'run')).lines).toEqual(['run ']);
    expect((await completeInBash('promptrun r', 'run', 'runs')).lines).toEqual(['run', 'runs']);
    expect(
      (await completeInBash('promptrun -i p', { value: 'place=', isPartial: true })).lines,
    ).toEqual(['place=']);
  });

  it('quotes every character that is special in bash', async () => {
    const hostile = '$(x) `y` "z" \'w\' \\ ! * ? [a] {b} ~ # & | ; < > ( )';
    const { lines } = await completeInBash('promptrun x', hostile, 'other');
    expect(lines[0]?.replace(/\\./gu, '')).toMatch(/^[xyzwab]*$/u);
    expect(lines[0]?.replaceAll('\\', '')).toBe(hostile.replaceAll('\\', ''));
  });

  it('escapes only what is special within the open quote', async () => {
    expect((await completeInBash('promptrun "', '$x `y` "z" \\ \'w\'')).lines).toEqual([
      '\\$x \\`y\\` \\"z\\" \\\\ \'w\'',
    ]);
    expect((await completeInBash('promptrun "', 'a!b')).lines).toEqual([`a"'!'"b`]);
    expect((await completeInBash("promptrun '", "it's $x")).lines).toEqual(["it'\\''s $x"]);
  });

  it('leaves the tilde of a home directory to the shell', async () => {
    expect((await completeInBash('promptrun ~/a', '~/a b.prompt')).lines).toEqual([
      '~/a\\ b.prompt ',
    ]);
    expect((await completeInBash('promptrun x', '~x')).lines).toEqual(['\\~x ']);
  });
});

describe('the other shells', () => {
  const placeKey: Candidate = {
    value: 'place=',
    description: 'where\tto\n\u001b[2J',
    isPartial: true,
  };

  it('prints values and descriptions for fish', async () => {
    const { words, current, lines } = await complete('fish', ['run', "'a b"], placeKey, 'x y');
    expect({ words, current }).toEqual({ words: ['run'], current: 'a b' });
    expect(lines).toEqual(['place=\twhere to ^[[2J', 'x y\t']);
  });

  it('prints for zsh also whether the word continues', async () => {
    const { lines } = await complete('zsh', ['run', 'p'], placeKey, 'x y');
    expect(lines).toEqual(['open\tplace=\twhere to ^[[2J', 'done\tx y\t']);
  });

  it('prints quoted words for PowerShell, and never an empty field', async () => {
    const encodedWords = Buffer.from(JSON.stringify(['run', 'a b', ''])).toString('base64');
    const completed = await complete(
      'powershell',
      [encodedWords],
      'in\\plain=1',
      "it's ‘$(x)'",
      'a,b',
      placeKey,
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
    const encodedWords = Buffer.from(JSON.stringify(['run', ''])).toString('base64');
    const { lines } = await complete('powershell', [encodedWords], {
      value: 'grüße',
      description: '✉️ an 😀',
    });
    expect(lines.join('')).toMatch(/^[ -~]+$/u);
    expect(JSON.parse(lines[0] ?? '')).toEqual(["'grüße'", 'grüße', '✉️ an 😀']);
  });

  it('prints nothing for an unknown shell', async () => {
    expect((await complete('tcsh', ['run'], 'x')).lines).toEqual([]);
  });
});
