import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/files/formats/json.ts';
import { parsePromptFile } from '../../src/prompts/parse/parse-prompt.ts';
import { previewPrompt } from '../../src/prompts/render/preview-prompt.ts';
import { RENDER_LIMITS } from '../../src/prompts/template/render-budget.ts';
import type { TemplateMessage } from '../../src/prompts/template/template-messages.ts';

/** Few steps, so that they are soon used up; the clock stands still. */
const LIMITS = { ...RENDER_LIMITS, steps: 50_000, now: () => 0 };

function messages(
  template: string,
  inputs: JsonObject = {},
  partials: Record<string, string> = {},
): readonly TemplateMessage[] {
  const lookup = (name: string) =>
    Object.hasOwn(partials, name)
      ? { file: `_${name}.prompt`, text: partials[name] ?? '' }
      : undefined;
  const definition = parsePromptFile(template, 'x.prompt', { partials: lookup });
  return previewPrompt(definition, { inputs }, LIMITS).messages;
}

function text(...given: Parameters<typeof messages>): string {
  const parts = messages(...given).flatMap(({ content }) => content);
  return parts.map(part => ('text' in part ? part.text : '<no text>')).join('');
}

const own = (json: string): JsonObject => JSON.parse(json) as JsonObject;

describe('a template finds nothing but its inputs', () => {
  it.each([
    ['{{a.constructor}}{{a.constructor.constructor}}{{a.__proto__}}{{a.toString}}', { a: {} }],
    ['{{lookup a "constructor"}}{{lookup "x" "constructor"}}{{lookup l "map"}}', { a: {}, l: [1] }],
    [
      '{{#with (lookup a "constructor")}}{{#with (lookup this "constructor")}}in{{/with}}{{/with}}',
      { a: {} },
    ],
    ['{{#each a.__proto__}}in{{/each}}{{#each a.constructor.prototype}}in{{/each}}', { a: {} }],
    ['{{#with a as |constructor|}}{{constructor.constructor}}{{/with}}', { a: { b: 1 } }],
    [
      '{{a.__defineGetter__}}{{a.__lookupGetter__}}{{@root.a.constructor}}{{@constructor}}',
      { a: {} },
    ],
    [
      '{{@partial-block}}{{#each @partial-block}}in{{/each}}{{> @partial-block}}{{@_parent.root.x}}',
      {},
    ],
  ])('%s', (template, inputs) => expect(text(template, inputs)).toBe(''));

  it.each([
    '{{helperMissing a}}',
    '{{#blockHelperMissing a}}{{/blockHelperMissing}}',
    '{{> (lookup . "a")}}',
    '{{json (role "system")}}',
    '{{#with (media url=a)}}{{/with}}',
    '{{*decorator}}',
    '{{#*inline "__proto__"}}{{/inline}}',
    '{{role a}}',
  ])('%s is a fault', template => expect(() => messages(template, { a: 'system' })).toThrow());
});

describe('names such as __proto__ are ordinary names', () => {
  const names = [
    'constructor',
    '__proto__',
    'lookup',
    'each',
    'if',
    'helperMissing',
    'hasOwnProperty',
    'value',
  ];

  it.each(names)('%s', name => {
    const inputs = own(`{${JSON.stringify(name)}: "x"}`);
    expect(
      text(`{{${name}}}{{this.${name}}}{{lookup this "${name}"}}{{@root.${name}}}`, inputs),
    ).toBe('xxxx');
    expect(text(`{{#each this}}{{@key}}={{this}}{{/each}}{{#if ${name}}}!{{/if}}`, inputs)).toBe(
      `${name}=x!`,
    );
  });

  it('of a block parameter or a partial too', () => {
    expect(text('{{#each l as |json i|}}{{json}}{{i}}{{/each}}', { l: ['a'] })).toBe('a0');
    expect(text('{{> constructor}}', {}, { constructor: 'in' })).toBe('in');
  });
});

describe('a value is text', () => {
  it('whatever it is made of', () => {
    expect(
      text(
        '{{a}}|{{#each l}}{{this}}{{/each}}',
        own('{"a": {"toString": "x"}, "l": [[[]], [{}]]}'),
      ),
    ).toBe('[object Object]|[object Object]');
    expect(text('{{lookup l a}}', own('{"l": [1], "a": {"toString": 1}}'))).toBe('');
  });

  it('of blanks too, if layout alone would be empty', () => {
    expect(messages('{{role "system"}} {{a}} {{role "user"}} \n ', { a: '\n' })).toEqual([
      { role: 'system', content: [{ text: ' \n ' }] },
    ]);
  });
});

describe('what a template does is counted, without a loop too', () => {
  const doubling = (tag: (n: number) => string): Record<string, string> =>
    Object.fromEntries(
      Array.from({ length: 40 }, (_, n) => [`p${n}`, n === 39 ? '' : tag(n + 1).repeat(2)]),
    );

  const inlines = Array.from({ length: 40 }, (_, n) => {
    const twice = n === 0 ? '' : `{{> i${n - 1}}}`.repeat(2);
    return `{{#*inline "i${n}"}}${twice}{{/inline}}`;
  });
  const many = { l: Array.from({ length: 2000 }, (_, n) => n) };
  const wide = Object.fromEntries(Array.from({ length: 1000 }, (_, n) => [`k${n}`, n]));
  const STEPS = 'rendering the prompt takes more than 50,000 steps';

  it.each<[string, string, JsonObject, Record<string, string>, string]>([
    ['partials that double', '{{> p0}}', {}, doubling(n => `{{> p${n}}}`), STEPS],
    ['inline partials that double', `${inlines.join('')}{{> i39}}`, {}, {}, STEPS],
    [
      'blocks of partials that double',
      `${'{{#> p}}'.repeat(60)}x${'{{/p}}'.repeat(60)}`,
      {},
      { p: '{{> @partial-block}}'.repeat(2) },
      STEPS,
    ],
    ['empty loops', `${'{{#each @root.l}}'.repeat(3)}${'{{/each}}'.repeat(3)}`, many, {}, STEPS],
    ['loops without a body', '{{#each l}}{{^each @root.l}}x{{/each}}{{/each}}', many, {}, STEPS],
    [
      'contexts that are copied',
      '{{#each l}}{{> p @root a=1}}{{/each}}',
      { ...many, ...wide },
      { p: '' },
      STEPS,
    ],
    [
      'values that are longer than a text may be',
      '{{> p}}'.repeat(100),
      { a: 'x'.repeat(1_000_000) },
      { p: '{{a}}'.repeat(100) },
      'the rendered prompt is larger than 8 MiB',
    ],
  ])('%s', (_, template, inputs, partials, bound) =>
    expect(() => messages(template, inputs, partials)).toThrow(bound),
  );
});
