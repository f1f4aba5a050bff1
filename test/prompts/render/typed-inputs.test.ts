import { describe, expect, it } from 'vitest';
import { InvalidInputsError, toPromptConfig } from '../../../src/prompts/definition.ts';
import { parsePromptFile } from '../../../src/prompts/parse/parse-prompt.ts';
import { readTextInputs } from '../../../src/prompts/render/typed-inputs.ts';

const FIELDS = {
  s: 'string',
  n: 'number',
  i: 'integer',
  b: 'boolean',
  any: 'any',
  'list(array)': 'integer',
  'o(object)': '{name: string, "age?": integer}',
  'e(enum)': '[1, two, true]',
};

const createPrompt = (
  fields: Record<string, string>,
  more = '',
): ReturnType<typeof parsePromptFile> => {
  const lines = Object.entries(fields).map(
    ([name, type]) => `    ${JSON.stringify(name)}: ${type}`,
  );
  return parsePromptFile(
    ['---', 'input:', '  schema:', ...lines, more, '---', 'x'].join('\n'),
    'x.prompt',
  );
};

async function readInput(name: keyof typeof FIELDS, text: string): Promise<unknown> {
  const key = name.split('(')[0] ?? '';
  try {
    return (await readTextInputs(createPrompt({ [name]: FIELDS[name] }), { [key]: text }))[key];
  } catch (error) {
    if (error instanceof InvalidInputsError) return error.message.replace('the input ', '');
    throw error;
  }
}

describe('a text that stands for a typed value', () => {
  it.each<[keyof typeof FIELDS, string, unknown]>([
    ['s', '5', '5'],
    ['s', ' "x" ', ' "x" '],
    ['n', '1e3', 1000],
    ['n', '-0.5', -0.5],
    ['i', '7', 7],
    ['b', 'true', true],
    ['b', 'False', false],
    ['list(array)', '[1, 2]', [1, 2]],
    ['list(array)', '- 1\n- 2', [1, 2]],
    ['o(object)', '{"name": "Ada"}', { name: 'Ada' }],
    ['o(object)', 'name: Ada\nage: 36', { name: 'Ada', age: 36 }],
    ['any', '{"a": [1]}', { a: [1] }],
    ['any', 'Oslo: nice', 'Oslo: nice'],
    ['e(enum)', '1', 1],
    ['e(enum)', 'two', 'two'],
    ['e(enum)', 'true', true],
  ])('%s: %j', async (name, text, value) => expect(await readInput(name, text)).toEqual(value));

  it.each<[keyof typeof FIELDS, string, string]>([
    ['n', 'many', 'n must be a number'],
    ['n', '', 'n must be a number'],
    ['i', '1.5', 'i must be a whole number'],
    ['b', 'yes', 'b must be true or false'],
    ['list(array)', '1, 2', 'list must be a list'],
    ['list(array)', '[1, x]', 'list does not match its schema at /1: must be integer'],
    ['list(array)', '[1', 'list must be a list, as JSON or YAML'],
    ['o(object)', '{"name": 1}', 'o does not match its schema at /name: must be string'],
    ['o(object)', '{}', 'o does not match its schema at /name: is missing'],
    [
      'o(object)',
      '{"name": "a", "more": 1}',
      'o does not match its schema at /more: is not in the schema',
    ],
    ['e(enum)', '2', 'e must be one of 1, two, true'],
  ])('%s: %j does not fit', async (name, text, fault) =>
    expect(await readInput(name, text)).toBe(fault),
  );

  it('is reported with every other input that does not fit or is missing', async () => {
    const definition = createPrompt({ a: 'integer', b: 'string', 'c?': 'integer' });
    await expect(readTextInputs(definition, { a: 'x', c: 'y' })).rejects.toThrow(
      'the input a must be a whole number; the input b is required; the input c must be a whole number',
    );
  });

  it('is its default, with its type, if it is missing', async () => {
    const definition = createPrompt(
      { 'l(array)': 'integer', s: 'string', 'o?': 'integer' },
      '  default: {l: [1], s: ""}',
    );
    expect(await readTextInputs(definition, {})).toEqual({ l: [1], s: '' });
    expect(toPromptConfig(definition).textInputs).toEqual({
      l: { type: 'array', items: { type: 'integer' }, required: false, default: '[1]' },
      s: { type: 'string', required: false, default: '' },
      o: { type: 'integer', required: false },
    });
  });

  it('may be what another part of a JSON Schema says', async () => {
    const definition = parsePromptFile(
      [
        '---',
        'input:',
        '  schema:',
        '    type: object',
        '    required: [who]',
        '    properties: {who: {$ref: "#/$defs/person"}}',
        '    $defs: {person: {type: object, properties: {age: {type: integer}}}}',
        '---',
        '{{who.age}}',
      ].join('\n'),
      'x.prompt',
    );
    expect(await readTextInputs(definition, { who: '{"age": 36}' })).toEqual({ who: { age: 36 } });
    await expect(readTextInputs(definition, { who: '{"age": "x"}' })).rejects.toThrow(
      'the input who does not match its schema at /age: must be integer',
    );
  });

  it('may be a name like any other', async () => {
    const definition = createPrompt({ __proto__: 'integer', constructor: 'integer' });
    expect(
      await readTextInputs(
        createPrompt({ ['__proto__']: 'integer' }),
        JSON.parse('{"__proto__": "1"}') as Record<string, string>,
      ),
    ).toEqual(JSON.parse('{"__proto__": 1}'));
    expect(await readTextInputs(definition, { constructor: '2' })).toEqual({ constructor: 2 });
  });

  it('is refused if it is nested without end, or takes its pattern too long', async () => {
    expect(await readInput('any', '['.repeat(100_000) + ']'.repeat(100_000))).toBe(
      'any has more than 200 levels',
    );

    const schema =
      '---\ninput:\n  schema:\n    type: object\n    required: [a]\n    properties:\n      a: {type: string, pattern: "^(a+)+$"}\n---\n{{a}}';
    const definition = parsePromptFile(schema, 'x.prompt');

    await expect(readTextInputs(definition, { a: `${'a'.repeat(60)}b` })).rejects.toThrow(
      'takes longer than 1 s',
    );
    await expect(readTextInputs(definition, { a: 'b' })).rejects.toThrow('a must match pattern');
  });
});
