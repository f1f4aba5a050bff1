import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  escapeLiteralValue,
  parseKeyValue,
  parseValueSource,
} from '../../../src/cli/inputs/flag-values.ts';
import { anyText } from '../../support/any-text.ts';

const anyKey = anyText({ minLength: 1 }).filter(text => !text.includes('='));
const anyValue = anyText();

describe('key=value', () => {
  it('ends the key at the first = and leaves the value unchanged', () => {
    fc.assert(
      fc.property(anyKey, anyValue, (key, value) => {
        expect(parseKeyValue(`${key}=${value}`, '--input')).toEqual({ key, value });
      }),
    );
  });

  it.each(['name', '=value', ''])('refuses %j with the name of the flag', text => {
    expect(() => parseKeyValue(text, '--option')).toThrow(/^--option needs key=value/);
  });
});

describe('the source of a value', () => {
  it('is the argument itself by default, and for every value that is written literally', () => {
    fc.assert(
      fc.property(anyValue, value => {
        expect(parseValueSource(escapeLiteralValue(value))).toEqual({ from: 'argument', value });
      }),
    );
  });

  it.each([
    ['@notes.txt', { from: 'file', path: 'notes.txt' }],
    ['@-', { from: 'stdin' }],
    ['@@-', { from: 'argument', value: '@-' }],
    ['@@@x', { from: 'argument', value: '@@x' }],
    ['a@b', { from: 'argument', value: 'a@b' }],
    ['', { from: 'argument', value: '' }],
  ])('of %j is %j', (value, source) => {
    expect(parseValueSource(value)).toEqual(source);
  });
});
