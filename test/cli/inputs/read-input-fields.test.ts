import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readInputFields } from '../../../src/cli/inputs/read-input-fields.ts';

/** Names that have a meaning in configs, and names that objects inherit. */
const CONFIG_NAMES = (
  'textInputs imageInputs inputsJTD variables images properties metadata imageCount enum elements options ' +
  'multiple min defaultValues type ref __proto__ constructor'
).split(' ');

const UNKNOWN_FIELDS = { isKnown: false, text: [], images: [] };

describe('a list of configs, as in search results', () => {
  const texts = { textInputs: { topic: {} } };
  const images = { imageInputs: [{ description: 'A photo' }] };

  it('has the texts of all configs and the images of the first that has any', () => {
    const fields = {
      isKnown: true,
      text: [{ key: 'topic', required: true }],
      images: [{ description: 'A photo' }],
    };
    expect(readInputFields([{ ...texts, ...images }])).toEqual(fields);
    expect(readInputFields([texts, images, images])).toEqual(fields);
    expect(readInputFields([texts, texts]).text).toEqual(fields.text);
  });

  it.each([[[]], [[texts, { something: 'else' }]], [[[texts]]]])(
    'is unknown if it is empty or has an unknown part: %j',
    configs => {
      expect(readInputFields(configs)).toEqual(UNKNOWN_FIELDS);
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
    expect(readInputFields(config)).toEqual({
      isKnown: true,
      text: [
        { key: 'place', description: 'Where', required: true },
        { key: 'mood', required: false, default: 'sunny', choices: ['sunny', 'rainy'] },
        { key: 'note', required: false },
      ],
      images: [{ description: 'A photo' }, {}],
    });
  });

  it('takes a field with a default as optional, even if it is declared as required', () => {
    expect(readTextFields({ textInputs: { topic: { required: true, default: '' } } })).toEqual([
      { key: 'topic', required: false, default: '' },
    ]);
  });

  it('takes a field as required by default', () => {
    expect(readTextFields({ textInputs: { topic: {} } })).toEqual([
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
    const { text, images } = readInputFields({ textInputs, imageInputs: [{ name: 'photo' }] });
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
    expect(readInputFields({ textInputs: {}, imageInputs: [] })).toEqual({
      isKnown: true,
      text: [],
      images: [],
    });
    expect(readInputFields({ imageInputs: [{}] })).toEqual({
      isKnown: true,
      text: [],
      images: [{}],
    });
  });

  it('treats names such as __proto__ as ordinary names', () => {
    const config: unknown = JSON.parse(
      '{"textInputs": {"__proto__": {"description": "p"}, "constructor": {}, "variables": {"type": "string"}, "inputsJTD": {"type": "string"}}}',
    );
    expect(readTextFields(config).map(field => field.key)).toEqual([
      '__proto__',
      'constructor',
      'variables',
      'inputsJTD',
    ]);
    expect(readTextFields(config)[0]).toEqual({
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

  const expectedFields = {
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

  it('is read as inputsJTD of the config', () => {
    expect(readInputFields({ inputsJTD })).toEqual(expectedFields);
  });

  it('is read as inputsJTD of textInputs', () => {
    expect(readInputFields({ textInputs: { inputsJTD } })).toEqual(expectedFields);
  });

  it('is read in place of the config, and in place of the texts', () => {
    expect(readInputFields(inputsJTD)).toEqual(expectedFields);
    expect(readInputFields({ textInputs: inputsJTD })).toEqual(expectedFields);
    const textCalledProperties = {
      textInputs: { properties: { description: 'what it has', required: true } },
    };
    expect(readTextFields(textCalledProperties)).toMatchObject([
      { key: 'properties', description: 'what it has' },
    ]);
  });

  it('leaves the description of images to imageInputs', () => {
    expect(
      readInputFields({ textInputs: { inputsJTD }, imageInputs: [{ description: 'One' }] }).images,
    ).toEqual([{ description: 'One' }]);
    expect(
      readInputFields({
        inputsJTD: { properties: {} },
        imageInputs: { metadata: { imageCount: 1 } },
      }),
    ).toEqual({
      isKnown: true,
      text: [],
      images: [{}],
    });
  });

  it('is unknown if a reference leads nowhere or in a circle', () => {
    const definitions = { a: { ref: 'b' }, b: { ref: 'a' } };
    for (const ref of ['a', 'none']) {
      expect(readInputFields({ inputsJTD: { definitions, properties: { x: { ref } } } })).toEqual(
        UNKNOWN_FIELDS,
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
    expect(readTextFields({ inputsJTD: { properties } })).toEqual([
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

  const expectedTexts = [
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
  ])('are read %s', (_place, config) => {
    expect(readInputFields(config)).toEqual({
      isKnown: true,
      text: expectedTexts,
      images: [{ description: 'A photo' }],
    });
  });

  it('have the name inside if their key is a number', () => {
    expect(
      readTextFields({
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
  ])('is unknown: %j', config => {
    expect(readInputFields(config)).toEqual(UNKNOWN_FIELDS);
  });

  it('never throws, and has only texts in its fields, whatever the config contains', () => {
    const name = fc.constantFrom(...CONFIG_NAMES);
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
        const { isKnown, text, images } = readInputFields(value);
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

function readTextFields(config: unknown) {
  return readInputFields(config).text;
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
