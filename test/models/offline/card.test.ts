import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  escapeCardText,
  layOut,
  removeUndrawableCharacters,
} from '../../../src/models/offline/card-layout.ts';
import { drawCard } from '../../../src/models/offline/draw-card.ts';
import { anyText } from '../../support/any-text.ts';

const box = { width: 768, height: 384 };

describe("a card's text", () => {
  it('is as large as fits, its first line larger still', () => {
    const { lines } = layOut('Dear Ada,\n\nall is well.', box);
    expect(lines.map(({ text, fontSize, isHeading }) => [text, fontSize, isHeading])).toEqual([
      ['Dear Ada,', 57, true],
      ['all is well.', 38, false],
    ]);
  });

  it('shrinks, and at last is cut with an ellipsis, but never leaves its box', () => {
    const sizes = [10, 100, 1000, 10_000, 100_000].map(length => {
      const { lines, height } = layOut('word '.repeat(length / 5), box);
      expect(height).toBeLessThanOrEqual(box.height);
      for (const { text, fontSize } of lines) {
        expect(text.length * 0.6 * fontSize).toBeLessThanOrEqual(box.width);
      }
      expect(lines.at(-1)?.text.endsWith('…')).toBe(length > 1000);
      return lines[0]?.fontSize ?? 0;
    });
    expect(sizes).toEqual([...sizes].sort((a, b) => b - a));
    expect(new Set(sizes).size).toBeGreaterThan(2);
  });

  it('breaks words that are longer than a line, and loses none', () => {
    const text = `${'abcdefghij'.repeat(10)} end`;
    const { lines } = layOut(text, box);
    expect(
      lines
        .map(({ text }) => text.trim())
        .join('')
        .replace(' ', ''),
    ).toBe(text.replace(' ', ''));
    expect(lines.length).toBeGreaterThan(1);
  });

  it('says so if it is too long to be measured as a whole', () => {
    const { lines } = layOut(`a${'\u0301'.repeat(4000)} end`, box);
    expect(lines.at(-1)?.text.endsWith('…')).toBe(true);
  });
});

describe('a drawing', () => {
  it('holds no control characters, no overrides, nothing XML refuses', () => {
    expect(removeUndrawableCharacters('a\0b\u001b[31m\r\nc\td\u202e\ud800\uffff\u007f')).toBe(
      'ab[31m\nc    d',
    );
    expect(escapeCardText(`<a href="x">&'</a>`)).toBe(
      '&#60;a href=&#34;x&#34;&#62;&#38;&#39;&#60;/a&#62;',
    );
  });

  it('is the same picture for the same text, and another for another', async () => {
    const [first, again, other] = await Promise.all(
      ['one', 'one', 'two'].map(text => drawCard(text, 0.5)),
    );
    expect(first?.equals(again as Buffer)).toBe(true);
    expect(first?.equals(other as Buffer)).toBe(false);
  });

  it('is a picture, whatever the text', async () => {
    const signature = Buffer.from('\x89PNG', 'latin1');
    await fc.assert(
      fc.asyncProperty(anyText(), async text => {
        const bytes = await drawCard(text, 0.25);
        expect(bytes.subarray(0, 4).equals(signature)).toBe(true);
      }),
      { numRuns: 20 },
    );
    for (const text of ['', ' \n ', 'x\n'.repeat(5000), 'W'.repeat(50_000)]) {
      await drawCard(text, 0.25);
    }
  });
});
