import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { drawCard } from '../../../src/service/engines/card/draw.ts';
import { loadFont } from '../../../src/service/engines/card/font.ts';
import { characters, drawable, layOut, wrap, xmlText } from '../../../src/service/engines/card/layout.ts';

const each = (text: string): number => characters(text).length;
const box = { width: 768, height: 384 };

describe('wrapping', () => {
  it.each([
    ['one two three', 7, ['one two', 'three']],
    ['one', 7, ['one']],
    ['abcdefghij', 4, ['abcd', 'efgh', 'ij']],
    ['a abcdefghij b', 4, ['a', 'abcd', 'efgh', 'ij b']],
    ['東京都渋谷区', 4, ['東京都渋', '谷区']],
    ['   ', 4, []],
  ])('%j in %d', (text, width, lines) => expect(wrap(text, width, each)).toEqual(lines));

  it('keeps every character that can be seen, and every line in its width', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), fc.integer({ min: 1, max: 20 }), (text, width) => {
        const lines = wrap(text, width, each);
        expect(lines.join('').replace(/\s/g, '')).toBe(text.replace(/\s/g, ''));
        expect(Math.max(0, ...lines.map(each))).toBeLessThanOrEqual(width);
      }),
    );
  });
});

describe('a card’s text', () => {
  const measure = (text: string): number => each(text) * 0.6;

  it('is as large as fits, its first line larger still', () => {
    const { lines } = layOut('Dear Ada,\n\nall is well.', box, measure);
    expect(lines.map(({ text, size, heading }) => [text, size, heading])).toEqual([
      ['Dear Ada,', 60, true],
      ['all is well.', 40, false],
    ]);
  });

  it('shrinks, and at last is cut with an ellipsis, but never leaves its box', () => {
    const sizes = [10, 100, 1000, 10_000, 100_000].map(length => {
      const { lines, height } = layOut('word '.repeat(length / 5), box, measure);
      expect(height).toBeLessThanOrEqual(box.height);
      for (const { text, size } of lines) expect(measure(text) * size).toBeLessThanOrEqual(box.width);
      expect(lines.at(-1)?.text.endsWith('…')).toBe(length > 1000);
      return lines[0]?.size ?? 0;
    });
    expect(sizes).toEqual([...sizes].sort((a, b) => b - a));
    expect(new Set(sizes).size).toBeGreaterThan(2);
  });

  it('says so where it was too long to be looked at as a whole', () => {
    const { lines } = layOut(`a${'\u0301'.repeat(4000)} end`, box, measure);
    expect(lines.at(-1)?.text.endsWith('…')).toBe(true);
  });
});

describe('what is drawn', () => {
  it('holds no control characters, no overrides, nothing XML refuses', () => {
    expect(drawable('a\0b\u001b[31m\r\nc\td\u202e\ud800\uffff\u007f')).toBe('ab[31m\nc    d');
    expect(xmlText(`<a href="x">&'</a>`)).toBe('&lt;a href=&quot;x&quot;&gt;&amp;&apos;&lt;/a&gt;');
  });

  it('is measured by the font it is drawn with', async () => {
    const { advance } = await loadFont();
    const [narrow, wide, missing] = ['i', 'W', '東'].map(character => advance(character.codePointAt(0) ?? 0));
    expect([narrow, wide, missing].map(width => (width ?? 0).toFixed(2))).toEqual(['0.28', '0.99', '0.60']);
  });

  it('is the same picture for the same text, and another for another', async () => {
    const [first, again, other] = await Promise.all(['one', 'one', 'two'].map(text => drawCard(text, 0.5)));
    expect(first?.equals(again as Buffer)).toBe(true);
    expect(first?.equals(other as Buffer)).toBe(false);
  });

  it('is a picture, whatever the text', async () => {
    const signature = Buffer.from('\x89PNG', 'latin1');
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: 'binary' }), async text => {
        const bytes = await drawCard(text, 0.25);
        expect(bytes.subarray(0, 4).equals(signature)).toBe(true);
      }),
      { numRuns: 20 },
    );
    for (const text of ['', ' \n ', 'x\n'.repeat(5000), 'W'.repeat(50_000)]) await drawCard(text, 0.25);
  });
});
