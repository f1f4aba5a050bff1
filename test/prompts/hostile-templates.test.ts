import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/files/formats/json.ts';
import { parsePromptFile } from '../../src/prompts/parse/parse-prompt.ts';
import { previewPrompt } from '../../src/prompts/render/preview-prompt.ts';
import { RENDER_LIMITS } from '../../src/prompts/template/render-budget.ts';
import type { TemplateMessage } from '../../src/prompts/template/template-messages.ts';

/** Few steps, so that they are soon used up; the clock stands still. */
const LIMITS = { ...RENDER_LIMITS, maxSteps: 50_000, now: () => 0 };

function renderMessages(
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

function renderText(...args: Parameters<typeof renderMessages>): string {
  const parts = renderMessages(...args).flatMap(({ content }) => content);
  return parts.map(part => ('text' in part ? part.text : '<no text>')).join('');
}

/** Reads JSON, because `__proto__` in a literal of JavaScript would set the prototype. */
const parseInputs = (json: string): JsonObject => JSON.parse(json) as JsonObject;

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
  ])('%s', (template, inputs) => expect(renderText(template, inputs)).toBe(''));

  it.each([
    '{{helperMissing a}}',
    '{{#blockHelperMissing a}}{{/blockHelperMissing}}',
    '{{> (lookup . "a")}}',
    '{{json (role "system")}}',
    '{{#with (media url=a)}}{{/with}}',
    '{{*decorator}}',
    '{{#*inline "__proto__"}}{{/inline}}',
    '{{role a}}',
  ])('%s is a fault', template =>
    expect(() => renderMessages(template, { a: 'system' })).toThrow(),
  );
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
    const inputs = parseInputs(`{${JSON.stringify(name)}: "x"}`);
    expect(
      renderText(`{{${name}}}{{this.${name}}}{{lookup this "${name}"}}{{@root.${name}}}`, inputs),
    ).toBe('xxxx');
    expect(
      renderText(`{{#each this}}{{@key}}={{this}}{{/each}}{{#if ${name}}}!{{/if}}`, inputs),
    ).toBe(`${name}=x!`);
  });

  it('may be names of block parameters and partials', () => {
    expect(renderText('{{#each l as |json i|}}{{json}}{{i}}{{/each}}', { l: ['a'] })).toBe('a0');
    expect(renderText('{{> constructor}}', {}, { constructor: 'in' })).toBe('in');
  });
});

describe('a value', () => {
  it('is rendered as text, even if it is an object with a toString of its own', () => {
    expect(
      renderText(
        '{{a}}|{{#each l}}{{this}}{{/each}}',
        parseInputs('{"a": {"toString": "x"}, "l": [[[]], [{}]]}'),
      ),
    ).toBe('[object Object]|[object Object]');
    expect(renderText('{{lookup l a}}', parseInputs('{"l": [1], "a": {"toString": 1}}'))).toBe('');
  });

  it('of blanks is kept as the content of a message', () => {
    expect(renderMessages('{{role "system"}} {{a}} {{role "user"}} \n ', { a: '\n' })).toEqual([
      { role: 'system', content: [{ text: ' \n ' }] },
    ]);
  });
});

describe('what a template does is counted, without a loop too', () => {
  const DEPTH = 40;
  const TOO_MANY_STEPS = 'rendering the prompt takes more than 50,000 steps';

  /** Partials p0 to p39, each of which uses the next one twice. */
  const doublingPartials = Object.fromEntries(
    Array.from({ length: DEPTH }, (_, index) => {
      const isLast = index === DEPTH - 1;
      return [`p${index}`, isLast ? '' : `{{> p${index + 1}}}`.repeat(2)];
    }),
  );

  /** Inline partials i0 to i39, each of which uses the one before twice. */
  const doublingInlines = Array.from({ length: DEPTH }, (_, index) => {
    const uses = index === 0 ? '' : `{{> i${index - 1}}}`.repeat(2);
    return `{{#*inline "i${index}"}}${uses}{{/inline}}`;
  }).join('');

  const longList = { l: Array.from({ length: 2000 }, (_, index) => index) };
  const manyInputs = Object.fromEntries(
    Array.from({ length: 1000 }, (_, index) => [`k${index}`, index]),
  );

  interface HostileTemplate {
    readonly title: string;
    readonly template: string;
    readonly inputs?: JsonObject;
    readonly partials?: Record<string, string>;
    readonly fault: string;
  }

  it.each<HostileTemplate>([
    {
      title: 'partials that double',
      template: '{{> p0}}',
      partials: doublingPartials,
      fault: TOO_MANY_STEPS,
    },
    {
      title: 'inline partials that double',
      template: `${doublingInlines}{{> i39}}`,
      fault: TOO_MANY_STEPS,
    },
    {
      title: 'blocks of partials that double',
      template: `${'{{#> p}}'.repeat(60)}x${'{{/p}}'.repeat(60)}`,
      partials: { p: '{{> @partial-block}}'.repeat(2) },
      fault: TOO_MANY_STEPS,
    },
    {
      title: 'empty loops',
      template: `${'{{#each @root.l}}'.repeat(3)}${'{{/each}}'.repeat(3)}`,
      inputs: longList,
      fault: TOO_MANY_STEPS,
    },
    {
      title: 'loops without a body',
      template: '{{#each l}}{{^each @root.l}}x{{/each}}{{/each}}',
      inputs: longList,
      fault: TOO_MANY_STEPS,
    },
    {
      title: 'contexts that are copied',
      template: '{{#each l}}{{> p @root a=1}}{{/each}}',
      inputs: { ...longList, ...manyInputs },
      partials: { p: '' },
      fault: TOO_MANY_STEPS,
    },
    {
      title: 'values that are longer than a text may be',
      template: '{{> p}}'.repeat(100),
      inputs: { a: 'x'.repeat(1_000_000) },
      partials: { p: '{{a}}'.repeat(100) },
      fault: 'the rendered prompt is larger than 8 MiB',
    },
  ])('$title', ({ template, inputs, partials, fault }) => {
    expect(() => renderMessages(template, inputs, partials)).toThrow(fault);
  });
});
