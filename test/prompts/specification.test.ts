// The dotprompt specification of the language, in our own examples.

import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/files/formats/json.ts';
import { parsePromptFile } from '../../src/prompts/parse/parse-prompt.ts';
import {
  type PreviewInputs,
  type PromptPreview,
  previewPrompt,
} from '../../src/prompts/render/preview-prompt.ts';

interface PreviewOptions extends PreviewInputs {
  partials?: Record<string, string>;
  schemas?: Record<string, JsonObject>;
}

function previewSource(
  source: string,
  { partials = {}, schemas = {}, ...inputs }: PreviewOptions = {},
): PromptPreview {
  const lookup = (name: string) =>
    Object.hasOwn(partials, name)
      ? { file: `_${name}.prompt`, text: partials[name] ?? '' }
      : undefined;
  return previewPrompt(parsePromptFile(source, 'x.prompt', { partials: lookup, schemas }), inputs);
}

/** Returns the text of a prompt that renders to one message of one text, or to none. */
function renderText(source: string, inputs: JsonObject = {}, options: PreviewOptions = {}): string {
  const { messages } = previewSource(source, { inputs, ...options });
  if (messages.length === 0) return '';
  expect(messages).toEqual([{ role: 'user', content: [{ text: expect.any(String) as string }] }]);
  const [part] = messages.flatMap(({ content }) => content);
  return part && 'text' in part ? part.text : '';
}

describe('a value in a template', () => {
  it.each<[string, JsonObject, string]>([
    ['Dear {{who}},\n', { who: 'Ada' }, 'Dear Ada,\n'],
    ['{{who}}', { who: '<i>"Ada" & co</i>' }, '<i>"Ada" & co</i>'],
    ['{{a.b.c}} {{a.[two words]}}', { a: { b: { c: 1 }, 'two words': 2 } }, '1 2'],
    ['{{list.[1]}} {{list.length}}', { list: ['a', 'b'] }, 'b 2'],
    [
      '{{n}} {{yes}} {{list}} [{{none}}]',
      { n: 0, yes: false, list: [1, 'b'], none: null },
      '0 false 1,b []',
    ],
    ['\\{{who}} {{{who}}}', { who: 'Ada' }, '{{who}} Ada'],
    ['{{who}} {{! not shown }}{{!-- {{neither}} --}}!', { who: '日本の方' }, '日本の方 !'],
    ['{{lookup map key}} {{lookup list 1}}', { map: { k: 'v' }, key: 'k', list: [1, 2] }, 'v 2'],
    ['{{log who}}{{who}}', { who: 'Ada' }, 'Ada'],
    ['{{constructor}}{{a.constructor}}{{a.__proto__}}', { constructor: 'x', a: {} }, 'x'],
  ])('%s with %j', (template, inputs, expected) =>
    expect(renderText(template, inputs)).toBe(expected),
  );

  it('may come from variables of the caller, of the loop and of the front matter', () => {
    const context = { state: { count: 0 }, auth: { mail: 'a@example.com' } };
    expect(renderText('{{@state.count}} <{{@auth.mail}}> [{{@user.role}}]', {}, { context })).toBe(
      '0 <a@example.com> []',
    );
    expect(renderText('---\nmodel: m\n---\n{{@metadata.prompt.model}} x')).toBe('m x');
  });
});

describe('whitespace', () => {
  it.each<[string, JsonObject, string]>([
    ['a   {{~v~}}   b\n', { v: 'V' }, 'aVb\n'],
    ['a {{~v}} b', { v: 'V' }, 'aV b'],
    ['a {{v~}}\n  b', { v: 'V' }, 'a Vb'],
    ['{{#if v}}\nyes\n{{else}}\nno\n{{/if}}\nend\n', { v: true }, 'yes\nend\n'],
    ['one\n{{~#if v~}}\n two\n{{~/if~}}\nthree', { v: false }, 'onethree'],
    ['{{#each l~}}\n- {{this}}\n{{~/each}}.', { l: [1, 2] }, '- 1- 2.'],
  ])('around tags is trimmed: %j', (template, inputs, expected) =>
    expect(renderText(template, inputs)).toBe(expected),
  );

  it('around the template is trimmed below front matter, and kept without it', () => {
    expect(renderText('---\nmodel: m\n---\n\n  Hello\n\n')).toBe('Hello');
    expect(renderText('\nHello\n')).toBe('\nHello\n');
    expect(previewSource('---\nmodel: m\n---\n').messages).toEqual([]);
  });
});

describe('blocks', () => {
  it.each<[string, JsonObject, string]>([
    ['{{#if v}}y{{else}}n{{/if}}', { v: [] }, 'n'],
    ['{{#if v}}y{{else}}n{{/if}}{{#if v includeZero=true}}y{{/if}}', { v: 0 }, 'ny'],
    ['{{#unless v}}y{{else}}n{{/unless}}', { v: '' }, 'y'],
    ['{{#if a}}a{{else if b}}b{{else unless c}}c{{else}}d{{/if}}', { a: 0, b: null, c: 1 }, 'd'],
    [
      '{{#each l}}{{@index}}{{this}}{{#if @first}}<{{/if}}{{#if @last}}>{{/if}}{{/each}}',
      { l: ['a', 'b'] },
      '0a<1b>',
    ],
    ['{{#each o}}{{@key}}={{this}} {{else}}none{{/each}}', { o: { x: 1, y: 2 } }, 'x=1 y=2 '],
    ['{{#each o}}x{{else}}none{{/each}}', { o: {} }, 'none'],
    [
      '{{#each l as |v i|}}{{i}}{{v.n}}{{#each v.m}}{{i}}{{../n}}{{@../index}}{{/each}}{{/each}}',
      { l: [{ n: 'a', m: [1] }] },
      '0a0a0',
    ],
    ['{{#with o}}{{n}}{{../m}}{{@root.m}}{{else}}none{{/with}}', { o: { n: 1 }, m: 2 }, '122'],
    ['{{#with o as |p|}}{{p.n}}{{/with}}', { o: { n: 1 } }, '1'],
    [
      '{{#o}}{{n}}{{/o}}{{^l}}no list{{/l}}{{#l}}{{this}}{{/l}}',
      { o: { n: 1 }, l: [] },
      '1no list',
    ],
    ['{{#l}}{{n}}{{/l}}', { l: [{ n: 1 }, { n: 2 }] }, '12'],
    ['{{#if (lookup o "n")}}y{{/if}}', { o: { n: 1 } }, 'y'],
  ])('%s with %j', (template, inputs, expected) =>
    expect(renderText(template, inputs)).toBe(expected),
  );

  it.each<[JsonObject, 'same' | 'other']>([
    [{ a: 5, b: 5 }, 'same'],
    [{ a: 5, b: '5' }, 'other'],
    [{ a: false, b: false }, 'same'],
    [{ a: true, b: false }, 'other'],
    [{ a: null, b: null }, 'same'],
    [{ a: null, b: 0 }, 'other'],
  ])('compare values with their types: %j are the %s', (inputs, expected) => {
    const ifEquals = '{{#ifEquals a b}}same{{else}}other{{/ifEquals}}';
    const unlessEquals = '{{#unlessEquals a b}}other{{else}}same{{/unlessEquals}}';
    expect(renderText(ifEquals, inputs)).toBe(expected);
    expect(renderText(unlessEquals, inputs)).toBe(expected);
  });
});

describe('the json helper', () => {
  it('writes any value or all inputs, with an indent if it has one', () => {
    const inputs = { a: { b: [1, 'x', null] } };
    expect(renderText('{{json this}}', inputs)).toBe('{"a":{"b":[1,"x",null]}}');
    expect(renderText('{{json a.b}} {{json a.none}}', inputs)).toBe('[1,"x",null] null');
    expect(renderText('{{json this indent=2}}', { a: 1 })).toBe('{\n  "a": 1\n}');
    expect(renderText('{{json this indent=4}}', { a: 1 })).toBe('{\n    "a": 1\n}');
    expect(renderText('{{json this}}', {})).toBe('{}');
  });
});

describe('messages', () => {
  it("begin with a role; the text before the first role is the user's", () => {
    const source =
      'Hi\n{{role "system"}}{{s}}\n{{role "user"}}one{{role "user"}}two{{role "model"}}three\n';
    expect(previewSource(source, { inputs: { s: 'S' } }).messages).toEqual([
      { role: 'user', content: [{ text: 'Hi\n' }] },
      { role: 'system', content: [{ text: 'S\n' }] },
      { role: 'user', content: [{ text: 'one' }] },
      { role: 'user', content: [{ text: 'two' }] },
      { role: 'model', content: [{ text: 'three\n' }] },
    ]);
  });

  it("include the history at its tag, or before the user's last message", () => {
    const history = [
      { role: 'user', content: [{ text: 'Hello' }] },
      { role: 'model', content: [{ text: 'Hi!' }] },
    ] as const;
    const messages = previewSource('{{role "system"}}S\n{{history}}\n{{role "user"}}more', {
      history,
    }).messages;
    const metadata = { purpose: 'history' };

    expect(messages).toEqual([
      { role: 'system', content: [{ text: 'S\n' }] },
      ...history.map(message => ({ ...message, metadata })),
      { role: 'user', content: [{ text: 'more' }] },
    ]);

    expect(
      previewSource('{{role "system"}}S{{role "user"}}U', { history }).messages.map(
        ({ role }) => role,
      ),
    ).toEqual(['system', 'user', 'model', 'user']);
    expect(
      previewSource('{{role "system"}}S', { history }).messages.map(({ role }) => role),
    ).toEqual(['system', 'user', 'model']);
    expect(previewSource('{{role "system"}}S{{history}}\n{{role "user"}}U').messages).toHaveLength(
      2,
    );
  });

  it('hold pictures by any URL, with their type if the tag has one', () => {
    const inputs = { photo: 'http://a/b c', kind: 'video/mp4' };
    expect(
      previewSource('See {{media url=photo contentType=kind}}{{media url=photo}}.', { inputs })
        .messages,
    ).toEqual([
      {
        role: 'user',
        content: [
          { text: 'See ' },
          { media: { url: 'http://a/b c', contentType: 'video/mp4' } },
          { media: { url: 'http://a/b c' } },
          { text: '.' },
        ],
      },
    ]);

    expect(
      previewSource('{{media url=a}}{{media url=b}}', { images: ['x:1', 'x:2'] }).messages[0]
        ?.content,
    ).toEqual([{ media: { url: 'x:1' } }, { media: { url: 'x:2' } }]);
    expect(
      previewSource('{{#each l}}{{media url=this}}{{/each}}', { inputs: { l: ['x:1', 'x:2'] } })
        .messages,
    ).toHaveLength(1);
  });

  it('hold sections as pending parts', () => {
    expect(previewSource('a{{section "one"}}\nb').messages[0]?.content).toEqual([
      { text: 'a' },
      { metadata: { purpose: 'one', pending: true } },
      { text: '\nb' },
    ]);
  });
});

describe('a partial', () => {
  const partials = {
    greet: 'Hello, {{name}}!',
    outer: '[{{> greet}}]',
    noted: '{{!-- a licence --}}\n# kept\n{{name}}\n',
    row: '- {{this}}\n',
    tree: '{{n}}{{#each kids}}({{> tree}}){{/each}}',
    frame: '<{{> @partial-block}}>',
  };

  it.each<[string, JsonObject, string]>([
    ['{{> greet}} Bye', { name: 'Ada' }, 'Hello, Ada! Bye'],
    ['{{> greet name=who}}', { who: 'Ada' }, 'Hello, Ada!'],
    [
      '{{> greet person}} {{> greet person name="Eve"}}',
      { person: { name: 'Ada' } },
      'Hello, Ada! Hello, Eve!',
    ],
    ['{{> outer}}', { name: 'Ada' }, '[Hello, Ada!]'],
    ['{{> noted name="Ada"}}', {}, '# kept\nAda\n'],
    ['List:\n  {{> row "a\nb"}}\nend', {}, 'List:\n  - a\n  b\nend'],
    ['{{#each l}}{{> row this}}{{/each}}', { l: [1, 2] }, '- 1\n- 2\n'],
    ['{{> tree t}}', { t: { n: 1, kids: [{ n: 2 }, { n: 3, kids: [{ n: 4 }] }] } }, '1(2)(3(4))'],
    ['{{#> frame}}{{v}}{{/frame}}{{#> none}}else{{/none}}', { v: 'in' }, '<in>else'],
    ['{{#*inline "x"}}({{a}}){{/inline}}{{> x}}{{> x a=2}}', { a: 1 }, '(1)(2)'],
  ])('%j with %j', (template, inputs, expected) =>
    expect(renderText(template, inputs, { partials })).toBe(expected),
  );

  it('asks for the inputs it uses', () => {
    const lookup = () => ({ file: '_greet.prompt', text: partials.greet });
    const inputs = (template: string) =>
      parsePromptFile(template, 'x.prompt', { partials: lookup }).textInputs.map(({ key }) => key);
    expect(inputs('{{> greet}}')).toEqual(['name']);
    expect(inputs('{{> greet name=who}}')).toEqual(['who']);
    expect(inputs('{{> greet person}}')).toEqual(['person']);
  });
});

describe('a schema', () => {
  const readSchema = (...lines: string[]): unknown =>
    previewSource(
      ['---', 'output:', '  schema:', ...lines.map(line => `    ${line}`), '---', ''].join('\n'),
      {
        schemas: { Price: { type: 'number', description: 'in euros' } },
      },
    ).output?.schema;

  const objectSchema = (properties: object, keywords: object = {}): unknown => ({
    type: 'object',
    properties,
    additionalProperties: false,
    ...keywords,
  });

  it('may be one type with a description', () => {
    const readScalarSchema = (line: string): unknown =>
      previewSource(`---\noutput:\n  schema: ${line}\n---\n`).output?.schema;
    expect(readScalarSchema('string')).toEqual({ type: 'string' });
    expect(readScalarSchema('number,of all, that are')).toEqual({
      type: 'number',
      description: 'of all, that are',
    });
    expect(previewSource('---\r\ninput:\r\n  schema: string\r\n---\r\n').input).toEqual({
      schema: { type: 'string' },
    });
  });

  it('has fields of every type, which may be null if they are optional', () => {
    expect(
      readSchema(
        'a: string, the a',
        'b?: boolean',
        'c: any',
        'd?: any, whatever',
        'e: integer',
        'f: null',
      ),
    ).toEqual(
      objectSchema(
        {
          a: { type: 'string', description: 'the a' },
          b: { type: ['boolean', 'null'] },
          c: {},
          d: { description: 'whatever' },
          e: { type: 'integer' },
          f: { type: 'null' },
        },
        { required: ['a', 'c', 'e', 'f'] },
      ),
    );
  });

  it('has lists, objects and choices', () => {
    expect(
      readSchema(
        'tags(array, some): string, one',
        'rows?(array):',
        '  n?: number',
        'who?(object, somebody):',
        '  name: string',
        'where:',
        '  street: string',
        'colour?(enum, of it): [red, 2]',
      ),
    ).toEqual(
      objectSchema(
        {
          tags: {
            type: 'array',
            description: 'some',
            items: { type: 'string', description: 'one' },
          },
          rows: {
            type: ['array', 'null'],
            items: objectSchema({ n: { type: ['number', 'null'] } }),
          },
          who: {
            ...(objectSchema({ name: { type: 'string' } }, { required: ['name'] }) as object),
            type: ['object', 'null'],
            description: 'somebody',
          },
          where: objectSchema({ street: { type: 'string' } }, { required: ['street'] }),
          colour: { enum: ['red', 2, null], description: 'of it' },
        },
        { required: ['tags', 'where'] },
      ),
    );
  });

  it('may allow further fields', () => {
    expect(readSchema('(*): number, any of them')).toEqual({
      type: 'object',
      properties: {},
      additionalProperties: { type: 'number', description: 'any of them' },
    });
  });

  it('may refer to another schema by name', () => {
    expect(readSchema('a: Price', 'b?: Price, of it')).toEqual(
      objectSchema(
        {
          a: { type: 'number', description: 'in euros' },
          b: { type: ['number', 'null'], description: 'of it' },
        },
        { required: ['a'] },
      ),
    );
  });

  it('may be JSON Schema', () => {
    expect(readSchema('type: string', 'minLength: 2')).toEqual({ type: 'string', minLength: 2 });
    expect(readSchema('properties:', '  a: {type: string}')).toEqual({
      type: 'object',
      properties: { a: { type: 'string' } },
    });
  });
});

describe('front matter', () => {
  it('keeps the types of config, groups namespaced fields, and leaves the model as written', () => {
    const source = [
      '---',
      'model: vendor/model-1',
      'config:',
      '  temperature: 1',
      '  stopSequences: [END, "\\n"]',
      'a.b: 1',
      'a.c: {d: 2}',
      'a.x.y: 3',
      'mine: kept',
      '---',
      'Hello',
    ].join('\n');
    expect(previewSource(source)).toEqual({
      messages: [{ role: 'user', content: [{ text: 'Hello' }] }],
      model: 'vendor/model-1',
      config: { temperature: 1, stopSequences: ['END', '\n'] },
      ext: { a: { b: 1, c: { d: 2 } }, 'a.x': { y: 3 } },
    });
    expect(parsePromptFile(source, 'x.prompt').frontMatter).toMatchObject({
      mine: 'kept',
      'a.b': 1,
    });
  });

  it('has defaults, which inputs replace', () => {
    const source = '---\ninput:\n  default: {name: you, tags: [a]}\n---\n{{name}} {{tags.[0]}}';
    expect(renderText(source)).toBe('you a');
    expect(renderText(source, { name: 'Ada' })).toBe('Ada a');
    expect(previewSource(source).input).toEqual({ default: { name: 'you', tags: ['a'] } });
  });

  it('requires every input that the template uses', () => {
    expect(() =>
      previewSource('{{a}} {{media url=b}} {{#if c}}{{/if}}', { inputs: { c: 1 } }),
    ).toThrow('the input a is required; the input b is required');
  });
});
