import { describe, expect, it } from 'vitest';
import { JsonPastBound, parseBoundedJson } from '../../src/wire/bounded-json.ts';

const bounds = { values: 10, levels: 3 };

describe('JSON from elsewhere', () => {
  it.each([
    ['as many values as there may be', '[1, 2, 3, 4, 5, 6, 7, 8, 9]'],
    ['names beside values', '{"a": 1, "b": 2, "c": 3, "d": 4, "e": 5, "f": 6, "g": 7, "h": 8}'],
    ['lists and objects that are empty', '[[], {}, [], {}, [], {}, [], {}, []]'],
    ['as many levels as there may be', '[[[1]], [[2]]]'],
    ['marks inside a text', `["${'[{,'.repeat(50)}"]`],
    ['marks after an escaped quote', `["\\"${'[{,'.repeat(50)}\\\\", 2]`],
  ])('is read with %s', (_, json) => {
    expect(parseBoundedJson(json, bounds)).toEqual(JSON.parse(json));
  });

  it.each([
    ['many values', '[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]', 'holds more than 10 values'],
    ['empty objects', `[${'{},'.repeat(10)}{}]`, 'holds more than 10 values'],
    ['values after texts', `["\\"", ${'1,'.repeat(20)}1]`, 'holds more than 10 values'],
    ['texts side by side', '""'.repeat(30), 'holds more than 10 values'],
    ['levels', `${'['.repeat(4)}1${']'.repeat(4)}`, 'has more than 3 levels'],
  ])('is refused with too many: %s', (_, json, message) => {
    expect(() => parseBoundedJson(json, bounds)).toThrow(new JsonPastBound(message));
  });

  it('is refused where it is not JSON', () => {
    expect(() => parseBoundedJson('{"a": "no end', bounds)).toThrow(SyntaxError);
  });
});
