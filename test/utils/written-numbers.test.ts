import { describe, expect, it } from 'vitest';
import { MAX_JSON } from '../../src/utils/bounded-json.ts';
import { parseKeepingNumbers, stringifyAsWritten } from '../../src/utils/written-numbers.ts';

describe('numbers that JavaScript cannot hold', () => {
  const parse = (text: string): unknown => parseKeepingNumbers(text, MAX_JSON);

  it.each([
    '[12345678901234567890]',
    '{"a":12345678901234567890,"b":-9007199254740993,"c":0.1234567890123456789}',
    '[1e400,[9007199254740993],{"a":-1.5e999}]',
    String.raw`{"12345678901234567890":"\\\"12345678901234567890","\\":12345678901234567890}`,
  ])('are written as they came: %s', text => {
    expect(stringifyAsWritten(parse(text))).toBe(text);
  });

  it('remain numbers, and copies keep how they were written', () => {
    const parsed = parse('{"id":12345678901234567890,"n":1}') as { id: number; n: number };
    expect([parsed.id, Object.keys(parsed)]).toEqual([12_345_678_901_234_567_000, ['id', 'n']]);
    expect(stringifyAsWritten({ ...parsed, n: 2 })).toBe('{"id":12345678901234567890,"n":2}');
    expect(stringifyAsWritten({ ...parsed, id: 3 })).toBe('{"id":3,"n":1}');
  });

  it('leaves other values and texts alone', () => {
    const text = '{"a":1.5e100,"b":0.30000000000000004,"c":"12345678901234567890","d":0}';
    const parsed = parse(text);
    expect(Object.getOwnPropertySymbols(parsed)).toEqual([]);
    expect(JSON.parse(stringifyAsWritten(parsed))).toEqual(parsed);
    expect(stringifyAsWritten({ a: undefined, b: [undefined] }, 2)).toBe(
      '{\n  "b": [\n    null\n  ]\n}',
    );
  });
});
