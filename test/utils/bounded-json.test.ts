import { describe, expect, it } from 'vitest';
import {
  JsonLimitError,
  parseBoundedJson,
  readListAt,
  readTextAt,
  readValueAt,
} from '../../src/utils/bounded-json.ts';

const limits = { maxValues: 10, maxLevels: 3 };

describe('JSON from elsewhere', () => {
  it.each([
    ['as many values as there may be', '[1, 2, 3, 4, 5, 6, 7, 8, 9]'],
    ['names beside values', '{"a": 1, "b": 2, "c": 3, "d": 4, "e": 5, "f": 6, "g": 7, "h": 8}'],
    ['lists and objects that are empty', '[[], {}, [], {}, [], {}, [], {}, []]'],
    ['as many levels as there may be', '[[[1]], [[2]]]'],
    ['marks inside a text', `["${'[{,'.repeat(50)}"]`],
    ['marks after an escaped quote', `["\\"${'[{,'.repeat(50)}\\\\", 2]`],
  ])('is read with %s', (_, json) => {
    expect(parseBoundedJson(json, limits)).toEqual(JSON.parse(json));
  });

  it.each([
    ['many values', '[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]', 'holds more than 10 values'],
    ['empty objects', `[${'{},'.repeat(10)}{}]`, 'holds more than 10 values'],
    ['values after texts', `["\\"", ${'1,'.repeat(20)}1]`, 'holds more than 10 values'],
    ['texts side by side', '""'.repeat(30), 'holds more than 10 values'],
    ['levels', `${'['.repeat(4)}1${']'.repeat(4)}`, 'has more than 3 levels'],
  ])('is refused with too many: %s', (_, json, message) => {
    expect(() => parseBoundedJson(json, limits)).toThrow(new JsonLimitError(message));
  });

  it('is refused if it is not JSON', () => {
    expect(() => parseBoundedJson('{"a": "no end', limits)).toThrow(SyntaxError);
  });
});

describe('what lies at a path', () => {
  const json: unknown = JSON.parse('{"a": [{"b": "text"}, null], "n": 1, "__proto__": {"c": 2}}');

  it('is found in objects and lists, under own names only', () => {
    expect(readTextAt(json, 'a', 0, 'b')).toBe('text');
    expect(readListAt(json, 'a')).toHaveLength(2);
    expect(readValueAt(json, '__proto__', 'c')).toBe(2);
    expect(readValueAt(json, 'constructor')).toBeUndefined();
  });

  it('is undefined if the path leads nowhere, or to a value of another kind', () => {
    for (const path of [
      ['a', 1, 'b'],
      ['n', 'b'],
      ['a', 0, 'b', 'length'],
      ['x', 'y'],
    ]) {
      expect(readValueAt(json, ...path)).toBeUndefined();
    }
    expect([readTextAt(json, 'n'), readListAt(json, 'n'), readListAt(undefined)]).toEqual([
      undefined,
      [],
      [],
    ]);
  });
});
