import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { describeConfig } from '../../../src/cli/inputs/describe-config.ts';

/** The names a config is read for, and those that are none. */
const NAMES = (
  'textInputs imageInputs inputsJTD variables images properties metadata imageCount enum elements options ' +
  'multiple min defaultValues type ref __proto__ constructor'
).split(' ');

const UNKNOWN = { isKnown: false, text: [], images: [] };

describe('a list of configs, as rows of a search hold it', () => {
  const texts = { textInputs: { topic: {} } };
  const images = { imageInputs: [{ description: 'A photo' }] };

  it('has the texts of all and the images of the first that names any', () => {
    const fields = {
      isKnown: true,
      text: [{ key: 'topic', required: true }],
      images: [{ description: 'A photo' }],
    };
    expect(describeConfig([{ ...texts, ...images }])).toEqual(fields);
    expect(describeConfig([texts, images, images])).toEqual(fields);
    expect(describeConfig([texts, texts]).text).toEqual(fields.text);
  });

  it.each([[[]], [[texts, { something: 'else' }]], [[[texts]]]])(
    'is unknown otherwise: %j',
    configs => {
      expect(describeConfig(configs)).toEqual(UNKNOWN);
    },
  );
});

describe('keyed objects', () => {
  it('reads keys, descriptions, required inputs, defaults and choices', () => {
    const config = {
      textInputs: {
        place: { type: 'string', description: 'Where', required: true },
        mood: { type: 'string', required: false, default: 'sunny', enum: ['sunny', 'rainy'] },
        note: { type: 'string', required: false },
      },
      imageInputs: [{ description: 'A photo' }, {}],
    };
    expect(describeConfig(config)).toEqual({
      isKnown: true,
      text: [
        { key: 'place', description: 'Where', required: true },
        { key: 'mood', required: false, default: 'sunny', choices: ['sunny', 'rainy'] },
        { key: 'note', required: false },
      ],
      images: [{ description: 'A photo' }, {}],
    });
  });

  it('takes a field with a default as optional, even if it says it is required', () => {
    expect(describeFields({ textInputs: { topic: { required: true, default: '' } } })).toEqual([
      { key: 'topic', required: false, default: '' },
    ]);
  });

  it('takes a field that says nothing of it as required', () => {
    expect(describeFields({ textInputs: { topic: {} } })).toEqual([
      { key: 'topic', required: true },
    ]);
  });

  it('reads the types of values and lists, and the names of images', () => {
    const textInputs = {
      count: { type: 'integer' },
      tags: { type: 'array', items: { type: 'number' } },
      loud: { type: 'boolean' },
      days: { type: 'array', enum: ['mon', 'tue'] },
      tone: { options: { warm: 'Warm' } },
    };
    const { text, images } = describeConfig({ textInputs, imageInputs: [{ name: 'photo' }] });
    expect(text).toEqual([
      { key: 'count', required: true, type: 'integer' },
      { key: 'tags', required: true, type: 'array', items: 'number' },
      { key: 'loud', required: true, type: 'boolean' },
      { key: 'days', required: true, choices: ['mon', 'tue'], multiple: {} },
      { key: 'tone', required: true, choices: ['warm'], labels: new Map([['warm', 'Warm']]) },
    ]);
    expect(images).toEqual([{ name: 'photo' }]);
  });

  it('distinguishes a prompt without inputs from one that does not describe them', () => {
    expect(describeConfig({ textInputs: {}, imageInputs: [] })).toEqual({
      isKnown: true,
      text: [],
      images: [],
    });
    expect(describeConfig({ imageInputs: [{}] })).toEqual({
      isKnown: true,
      text: [],
      images: [{}],
    });
  });

  it('treats names such as __proto__ as ordinary names', () => {
    const config: unknown = JSON.parse(
      '{"textInputs": {"__proto__": {"description": "p"}, "constructor": {}, "variables": {"type": "string"}, "inputsJTD": {"type": "string"}}}',
    );
    expect(describeFields(config).map(field => field.key)).toEqual([
      '__proto__',
      'constructor',
      'variables',
      'inputsJTD',
    ]);
    expect(describeFields(config)[0]).toEqual({
      key: '__proto__',
      required: true,
      description: 'p',
    });
  });
});

describe('JSON Type Definition', () => {
  const inputsJTD = {
    definitions: { tone: { enum: ['warm', 'cold'] } },
    properties: {
      topic: { type: 'string', metadata: { description: 'What about' } },
      tone: { ref: 'tone' },
      tags: { elements: { enum: ['a', 'b', 'c'] } },
    },
    optionalProperties: {
      length: { type: 'string' },
      style: { enum: ['plain'], metadata: { default: 'plain' } },
    },
    metadata: { imageCount: 2 },
  };

  const described = {
    isKnown: true,
    text: [
      { key: 'topic', description: 'What about', required: true },
      { key: 'tone', required: true, choices: ['warm', 'cold'] },
      { key: 'tags', required: true, choices: ['a', 'b', 'c'], multiple: {} },
      { key: 'length', required: false },
      { key: 'style', required: false, default: 'plain', choices: ['plain'] },
    ],
    images: [{}, {}],
  };

  it('is read at the top', () => {
    expect(describeConfig({ inputsJTD })).toEqual(described);
  });

  it('is read inside textInputs', () => {
    expect(describeConfig({ textInputs: { inputsJTD } })).toEqual(described);
  });

  it('reads the schema itself at the top, and in place of the texts', () => {
    expect(describeConfig(inputsJTD)).toEqual(described);
    expect(describeConfig({ textInputs: inputsJTD })).toEqual(described);
    const named = { textInputs: { properties: { description: 'what it has', required: true } } };
    expect(describeFields(named)).toMatchObject([
      { key: 'properties', description: 'what it has' },
    ]);
  });

  it('lets imageInputs describe the images', () => {
    expect(
      describeConfig({ textInputs: { inputsJTD }, imageInputs: [{ description: 'One' }] }).images,
    ).toEqual([{ description: 'One' }]);
    expect(
      describeConfig({
        inputsJTD: { properties: {} },
        imageInputs: { metadata: { imageCount: 1 } },
      }),
    ).toEqual({
      isKnown: true,
      text: [],
      images: [{}],
    });
  });

  it('follows references no further than they lead', () => {
    const definitions = { a: { ref: 'b' }, b: { ref: 'a' } };
    for (const ref of ['a', 'none']) {
      expect(describeConfig({ inputsJTD: { definitions, properties: { x: { ref } } } })).toEqual(
        UNKNOWN,
      );
    }
  });

  it('reads the types of values', () => {
    const properties = {
      n: { type: 'float64' },
      i: { type: 'uint8' },
      b: { type: 'boolean' },
      l: { elements: { type: 'int32' } },
      o: { properties: {} },
    };
    expect(describeFields({ inputsJTD: { properties } })).toEqual([
      { key: 'n', required: true, type: 'number' },
      { key: 'i', required: true, type: 'integer' },
      { key: 'b', required: true, type: 'boolean' },
      { key: 'l', required: true, type: 'array', items: 'integer' },
      { key: 'o', required: true, type: 'object' },
    ]);
  });
});

describe('variables', () => {
  const variables = {
    topic: { type: 0, description: 'What about', defaultValues: [], allowEmpty: false },
    note: { type: 0, allowEmpty: true },
    blank: { type: 0, defaultValues: [''] },
    place: { type: 0, defaultValues: ['Rome', 'Oslo'] },
    tone: { type: 2, options: ['warm', 'cold'], defaultValues: ['cold'] },
    tags: { type: 2, options: [{ value: 'a' }, { label: 'b' }, 3], multiple: { min: 1, max: 2 } },
    how: { type: 1, options: { f: 'Friendly', g: 'g' } },
    some: { type: 2, options: ['x', 'y', 'z'], multiple: true, defaultValues: ['x', 'z'] },
    one: { type: 2, options: ['x'], multiple: false },
  };

  const described = [
    { key: 'topic', description: 'What about', required: true },
    { key: 'note', required: false },
    { key: 'blank', required: true },
    { key: 'place', required: false, default: 'Rome' },
    { key: 'tone', required: false, default: 'cold', choices: ['warm', 'cold'] },
    { key: 'tags', required: true, choices: ['a', 'b', '3'], multiple: { min: 1, max: 2 } },
    { key: 'how', required: true, choices: ['f', 'g'], labels: new Map([['f', 'Friendly']]) },
    { key: 'some', required: false, default: 'x, z', choices: ['x', 'y', 'z'], multiple: {} },
    { key: 'one', required: true, choices: ['x'] },
  ];

  it.each([
    ['at the top', { variables, images: [{ description: 'A photo' }] }],
    [
      'inside textInputs',
      { textInputs: { variables }, imageInputs: { images: [{ description: 'A photo' }] } },
    ],
  ])('are read %s', (_where, config) => {
    expect(describeConfig(config)).toEqual({
      isKnown: true,
      text: described,
      images: [{ description: 'A photo' }],
    });
  });

  it('use the name inside if the key only numbers them', () => {
    expect(
      describeFields({
        variables: { 17: { name: 'topic', type: 0 }, tone: { name: 'Tone', type: 0 } },
      }),
    ).toEqual([
      { key: 'topic', required: true },
      { key: 'tone', required: true },
    ]);
  });
});

describe('anything else', () => {
  it.each([
    [{}],
    [null],
    [undefined],
    ['text'],
    [[]],
    [7],
    [{ prompts: {} }],
    [{ textInputs: 'topic' }],
    [{ textInputs: { topic: 'What it is about' } }],
    [{ textInputs: { topic: {}, more: 2 } }],
    [{ textInputs: { topic: { enum: 'a' } } }],
    [{ textInputs: { topic: {} }, imageInputs: { min: 1, max: 3 } }],
    [{ textInputs: {}, imageInputs: ['photo'] }],
    [{ textInputs: {}, imageInputs: 2 }],
    [{ inputsJTD: { properties: { x: 'string' } } }],
    [{ inputsJTD: { properties: {}, metadata: { imageCount: -1 } } }],
    [{ inputsJTD: { metadata: { imageCount: 1e6 } } }],
  ])('is not known: %j', config => {
    expect(describeConfig(config)).toEqual(UNKNOWN);
  });

  it('never throws, whatever the config holds, and describes only texts', () => {
    const name = fc.constantFrom(...NAMES);
    const { config } = fc.letrec(tie => ({
      config: fc.oneof(
        { depthSize: 'large' },
        fc.constantFrom<unknown>(0, 2, -1, 1.5, '', 'a', true, null, 1e300),
        fc.array(tie('config'), { maxLength: 3 }),
        fc.array(fc.tuple(name, tie('config')), { maxLength: 5 }).map(asJson),
      ),
    }));
    fc.assert(
      fc.property(fc.oneof(config, fc.jsonValue()), value => {
        const { isKnown, text, images } = describeConfig(value);
        expect(isKnown || (text.length === 0 && images.length === 0)).toBe(true);
        expect(new Set(text.map(field => field.key)).size).toBe(text.length);

        for (const field of text) {
          expect([field.key, field.default ?? '', ...(field.choices ?? [])].every(isText)).toBe(
            true,
          );
          expect(field.required && field.default !== undefined).toBe(false);
        }
      }),
      { numRuns: 2000 },
    );
  });
});

function describeFields(config: unknown) {
  return describeConfig(config).text;
}

/** Returns an object as a parser makes it, with `__proto__` as its own key. */
function asJson(entries: [string, unknown][]): unknown {
  return JSON.parse(
    `{${entries.map(([key, value]) => `${JSON.stringify(key)}: ${JSON.stringify(value)}`).join(',')}}`,
  );
}

function isText(value: unknown): boolean {
  return typeof value === 'string';
}
