import { execFileSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { splitShellWords } from '../../../src/prompts/template/shell-words.ts';
import { isPosix } from '../../support/system.ts';

describe('words of a shell', () => {
  it
    .runIf(isPosix)
    .each([
      `a  b\tc\nd`,
      `'a b' "c d" e`,
      `a'b c'd"e f"g`,
      `a\\ b \\' \\"`,
      `"a \\"b\\" \\\\ \\x"`,
      `'' "" x`,
      `'it'\\''s'`,
    ])('are those that sh makes of %j', text => {
    const script = 'for word in "$@"; do printf "%s\\0" "$word"; done';
    const printed = execFileSync('sh', [
      '-c',
      `set -f; set -- ${text.replaceAll('\n', ' ')}; ${script}`,
    ]);
    expect(splitShellWords(text)).toEqual(printed.toString().split('\0').slice(0, -1));
  });

  it.each([
    ["it's", ["it's"]],
    ['5" nail', ['5"', 'nail']],
    ['a\\', ['a\\']],
  ])('take a quote that never ends for text: %s', (text, words) => {
    expect(splitShellWords(text)).toEqual(words);
  });
});
