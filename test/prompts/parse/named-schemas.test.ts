import { describe, expect, it } from 'vitest';
import { parseAnyPrompt } from '../../../src/prompts/foreign/parse-any-prompt.ts';

const CITY =
  '{"type": "object", "properties": {"name": "string, which city", "tags": {"items": "string"}}}';

const FILE = `---
input: { schema: City }
output:
  schema: Weather
---
{{name}} {{tags}} {{$season}}`;

function parseWithSchemas(files: Readonly<Record<string, string>>, text = FILE) {
  const { findings, definition } = parseAnyPrompt(text, 'x.prompt', {
    readSibling: name => files[name],
  });
  return { found: findings.list().map(({ line, message }) => `${line}: ${message}`), definition };
}

describe('a schema that is one word', () => {
  it.each([
    'City.schema.json',
    'City.schema.yaml',
    'schemas/City.schema.json',
    'schemas/City.schema.yaml',
  ])('is the file %s', file => {
    const { found, definition } = parseWithSchemas({
      [file]: CITY,
      'Weather.schema.yaml': 'type: object',
    });
    expect(found).toEqual([]);
    expect(
      definition?.textInputs.map(({ key, description, required }) => [key, description, required]),
    ).toEqual([
      ['name', 'which city', false],
      ['tags', undefined, false],
      ['$season', undefined, false],
    ]);

    expect(definition?.input.schema).toMatchObject({
      properties: { tags: { items: { type: 'string' } } },
    });
    expect(definition?.output.schema).toEqual({ type: 'object' });
  });

  it('is part of the version: another schema is another one', () => {
    const sources = [CITY, CITY.replace('which', 'what')].map(
      text => parseWithSchemas({ 'City.schema.json': text }).definition?.source,
    );
    expect(new Set(sources).size).toBe(2);
  });

  it("accepts anything if the file doesn't exist, and says so", () => {
    const { found, definition } = parseWithSchemas({});
    expect(found).toEqual([
      '2: unknown schema `City` (City.schema.json and City.schema.yaml): anything is accepted',
      '4: unknown schema `Weather` (Weather.schema.json and Weather.schema.yaml): anything is accepted',
    ]);
    expect(definition?.textInputs.map(({ key, required }) => [key, required])).toEqual([
      ['name', true],
      ['tags', true],
      ['$season', false],
    ]);
  });

  it('has no effect in place of a whole input or output, as in Genkit, and says what to write', () => {
    const { found, definition } = parseWithSchemas(
      {},
      '---\ninput: City\noutput: Weather\n---\n{{name}}',
    );
    expect(found).toEqual([
      '2: unknown schema `City`: anything is accepted; write input: { schema: City }',
      '3: unknown schema `Weather`: anything is accepted; write output: { schema: Weather }',
    ]);
    expect(definition).toMatchObject({ textInputs: [{ key: 'name', required: true }], output: {} });
    expect(parseWithSchemas({}, '---\ninput: [a]\n---\nx').found).toEqual([
      '2: input must be a map of keys to values',
    ]);
  });

  it('is faulty if its file is', () => {
    expect(parseWithSchemas({ 'City.schema.yaml': 'a: [' }).found).toEqual([
      expect.stringContaining('not YAML'),
    ]);
  });

  it('is none of the types, and nothing that stands in the template', () => {
    const text = '---\ninput:\n  schema: { a: string, b?: any }\n---\nschema: City {{a}}{{b}}';
    const { found, definition } = parseWithSchemas({ 'City.schema.json': CITY }, text);
    expect(found).toEqual([]);
    expect(definition?.template).toBe('schema: City {{a}}{{b}}');
  });
});
