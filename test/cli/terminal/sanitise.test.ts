import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { escapeControls, toOneLine, toSafeFileName } from '../../../src/cli/terminal/sanitise.ts';

// oxlint-disable-next-line no-control-regex -- what a terminal acts on
const DRIVES_A_TERMINAL = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/u;

const anyText = fc
  .array(fc.integer({ min: 0, max: 0x2100 }), { maxLength: 200 })
  .map(codes => String.fromCodePoint(...codes));

describe('escapeControls', () => {
  it('makes control characters visible, and keeps tabs and line breaks', () => {
    expect(escapeControls('a\tb\nc')).toBe('a\tb\nc');
    expect(escapeControls('\u001b[31mred\u0007')).toBe('^[[31mred^G');
    expect(escapeControls('overwritten\rx')).toBe('overwritten^Mx');
    expect(escapeControls('\u009b2J \u007f \u202egnp.exe')).toBe('\\u009b2J ^? \\u202egnp.exe');
  });

  it('leaves the letters of every script unchanged', () => {
    const text = 'Zürich 東京 שלום 👩‍👩‍👧 naïve';
    expect(escapeControls(text)).toBe(text);
  });

  it('removes every control character from any text', () => {
    fc.assert(
      fc.property(anyText, text => {
        expect(escapeControls(text)).not.toMatch(DRIVES_A_TERMINAL);
        expect(toOneLine(text)).not.toMatch(/[\t\n]/u);
      }),
    );
  });
});

describe('toOneLine', () => {
  it('joins lines and turns tabs into spaces', () => {
    expect(toOneLine('a\tb \r\n  c\u2028d')).toBe('a b c d');
  });
});

describe('toSafeFileName', () => {
  it.each([
    ['a cat.png', 'a_cat.png'],
    ['../../etc/passwd', 'etc_passwd'],
    ['..', '_'],
    ['', '_'],
    ['a\u0000b\u001b[2J', 'a_b_[2J'],
    ['C:\\x', 'C_x'],
    ['CON', '_CON'],
    ['nul.txt', '_nul.txt'],
    ['COM¹.txt', '_COM¹.txt'],
    ['conout$', '_conout$'],
    ['-rf', 'rf'],
    ['東京', '東京'],
    ['a'.repeat(200), 'a'.repeat(80)],
    ['東'.repeat(80), '東'.repeat(26)],
  ])('makes %j harmless', (text, name) => {
    expect(toSafeFileName(text)).toBe(name);
  });

  it('returns one short segment for any text', () => {
    fc.assert(
      fc.property(anyText, text => {
        const name = toSafeFileName(text);
        expect(name).not.toMatch(/[/\\]|^\.{0,2}$/u);
        expect(name).not.toMatch(DRIVES_A_TERMINAL);
        expect(Buffer.byteLength(name)).toBeLessThanOrEqual(81);
      }),
    );
  });
});
