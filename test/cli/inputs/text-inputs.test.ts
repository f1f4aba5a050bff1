import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { parseInputs, readJsonInputs } from '../../../src/cli/inputs/text-inputs.ts';
import { anyText } from '../../support/any-text.ts';

const parseAndRead = async (source: string) =>
  readJsonInputs(await parseInputs(source, '--inputs x'), '--inputs x: ');

const parseTexts = async (source: string) => Object.fromEntries((await parseAndRead(source)).text);

const anyTexts = fc.dictionary(
  fc.oneof(
    anyText(),
    fc.constantFrom('__proto__', 'constructor', 'textInputs', '\u0000', '\u0000\u0000'),
  ),
  anyText(),
  { noNullPrototype: true },
);

describe('--inputs', () => {
  it('returns every text of a JSON map unchanged, flat or nested, whatever its key', async () => {
    await fc.assert(
      fc.asyncProperty(anyTexts, async map => {
        const flat = await parseAndRead(JSON.stringify(map));
        const nested = await parseAndRead(JSON.stringify({ textInputs: map }));
        expect([...flat.text]).toEqual(Object.entries(map));
        expect([...nested.text]).toEqual(Object.entries(map));
      }),
    );
  });

  it('returns every text of a YAML map unchanged', async () => {
    const printable = fc.dictionary(fc.string({ minLength: 1 }), fc.string(), {
      noNullPrototype: true,
    });
    await fc.assert(
      fc.asyncProperty(printable, async map => {
        expect([...(await parseAndRead(`# yaml\n${stringify(map)}`)).text]).toEqual(
          Object.entries(map),
        );
      }),
    );
  });

  it.each([
    '{"a": 1.0, "b": 12345678901234567890, "c": -1e+3, "d": true, "e": "1.0 true \\" 2"}',
    'a: 1.0\nb: 12345678901234567890\nc: -1e+3\nd: true\ne: "1.0 true \\" 2"\n',
  ])('takes numbers and booleans as they are written: %s', async source => {
    expect(await parseTexts(source)).toEqual({
      a: '1.0',
      b: '12345678901234567890',
      c: '-1e+3',
      d: 'true',
      e: '1.0 true " 2',
    });
  });

  it.each([
    ['{"a": [1, 2.50, 12345678901234567890, "x", true, null], "b": {"c": {"d": "e"}}}'],
    ['a: [1, 2.50, 12345678901234567890, x, true, null]\nb: {c: {d: e}}\n'],
    [
      '{"textInputs": {"a": [1, 2.50, 12345678901234567890, "x", true, null], "b": {"c": {"d": "e"}}}}',
    ],
  ])('sends lists and objects as JSON: %s', async source => {
    expect(await parseTexts(source)).toEqual({
      a: '[1,2.50,12345678901234567890,"x",true,null]',
      b: '{"c":{"d":"e"}}',
    });
  });

  it('sends the literals of YAML as JSON, and those that JSON lacks as text', async () => {
    expect(await parseTexts('a: [0x1F, +1, True, .5, .inf, .nan]\nb: True\n')).toEqual({
      a: '[31,1,true,0.5,".inf",".nan"]',
      b: 'True',
    });
  });

  it('reads long JSON with many escaped quotes', async () => {
    const text = '\\"'.repeat(500_000);
    expect(await parseTexts(JSON.stringify({ text, n: 7 }))).toEqual({ text, n: '7' });
  });

  it.each([
    ['{"a": null}', '"a" is null'],
    ['a:\n', '"a" is null'],
    ['- a', 'this must be a map of keys to values'],
    ['', 'this must be a map of keys to values'],
    ['{"textInputs": {"a": null}}', '"a" is null'],
    ['{"textInputs": {}, "name": "x"}', '"name" is not allowed next to textInputs'],
    ['{"imageInputs": [{"type": "file"}]}', 'imageInputs[0] is neither'],
    ['{"imageInputs": ["-"]}', 'imageInputs[0] is neither'],
    ['a: [', 'neither JSON nor YAML: line'],
    ['a: 1\na: 2', 'neither JSON nor YAML: line 2'],
    ['a: 1\n---\nb: 2', 'neither JSON nor YAML: line 2: a document too many'],
    ['a: &x [*x]', 'is nested too deeply'],
  ])('refuses %j', async (source, message) => {
    await expect(parseAndRead(source)).rejects.toThrow(message);
  });

  it.each([
    { name: 'JSON', source: '{"a": _}', message: 'has more than 500 levels' },
    { name: 'YAML', source: 'a: _', message: 'is nested too deeply' },
  ])('refuses $name of many thousand levels', async ({ source, message }) => {
    const deepSource = source.replace('_', `${'['.repeat(20_000)}${']'.repeat(20_000)}`);
    await expect(parseAndRead(deepSource)).rejects.toThrow(message);
  });

  it('takes a flat map that happens to have a text called textInputs', async () => {
    expect(await parseTexts('{"textInputs": "x", "b": "y"}')).toEqual({ textInputs: 'x', b: 'y' });
  });

  it('takes images as in the interface, and file names', async () => {
    const images = [
      { type: 'url', url: 'https://example.com/a.png' },
      { type: 'base64', base64: 'AAAA' },
      'b.png',
    ];
    expect(await parseAndRead(JSON.stringify({ imageInputs: images }))).toEqual({
      text: new Map(),
      images: ['https://example.com/a.png', 'data:;base64,AAAA', 'b.png'],
    });
  });

  it('follows YAML aliases', async () => {
    expect(await parseTexts('a: &x hello\nb: *x\n')).toEqual({ a: 'hello', b: 'hello' });
  });

  it('refuses aliases of aliases that expand to too many values', async () => {
    const listOfMany = (text: string): string =>
      `[${Array.from({ length: 300 }, () => text).join(', ')}]`;
    const manyAliases = `a: &a ${listOfMany('x')}\nb: &b ${listOfMany('*a')}\nc: &c ${listOfMany('*b')}\nd: ${listOfMany('*c')}\n`;
    await expect(parseTexts(manyAliases)).rejects.toThrow('has too many parts');
  });
});
