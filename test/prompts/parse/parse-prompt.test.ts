import { describe, expect, it } from 'vitest';
import { toPromptConfig } from '../../../src/prompts/definition.ts';
import { InvalidPromptFileError } from '../../../src/prompts/findings.ts';
import { parsePromptFile } from '../../../src/prompts/parse/parse-prompt.ts';

const joinLines = (...lines: string[]): string => lines.join('\n');

function findFault(source: string, name = 'poem.prompt'): string {
  try {
    parsePromptFile(source, name);
  } catch (error) {
    if (error instanceof InvalidPromptFileError) return error.message;
    throw error;
  }
  return 'no fault';
}

describe('a prompt file', () => {
  const source = joinLines(
    '---',
    'title: A poem',
    'description: Writes a poem',
    'model: sandbox',
    'config:',
    '  delaySeconds: 5',
    'input:',
    '  schema:',
    '    photo: string, what it is about',
    '    topic: string, the topic, in a word',
    '    mood?(enum, how it sounds): [gay, sad, 3, true]',
    '    form(enum): [ode, haiku]',
    '    note?: string',
    '    sketch: string',
    '  default:',
    '    form: haiku',
    '---',
    'A {{mood}} {{form}} on {{topic}}: {{media url=sketch}} {{media url=photo}} {{note}}',
    '',
  );
  const definition = parsePromptFile(source, 'prompts/poem.prompt');

  it('is named by its file, and says what it is and what runs it', () => {
    expect(definition).toMatchObject({
      slug: 'poem',
      title: 'A poem',
      description: 'Writes a poem',
      model: 'sandbox',
      runOptions: { delaySeconds: '5' },
      source,
    });
  });

  it('asks for texts and, in schema order, for pictures', () => {
    expect(toPromptConfig(definition)).toEqual({
      textInputs: {
        topic: { type: 'string', description: 'the topic, in a word', required: true },
        mood: {
          type: 'any',
          description: 'how it sounds',
          required: false,
          enum: ['gay', 'sad', '3', 'true'],
        },
        form: { type: 'string', required: false, default: 'haiku', enum: ['ode', 'haiku'] },
        note: { type: 'string', required: false },
      },
      imageInputs: [{ name: 'photo', description: 'what it is about' }, { name: 'sketch' }],
    });
  });

  it('is the same with a byte-order mark and carriage returns', () => {
    expect(parsePromptFile(`\uFEFF${source.replaceAll('\n', '\r\n')}`, 'poem.prompt')).toEqual(
      definition,
    );
  });

  it('needs nothing but a template', () => {
    expect(parsePromptFile('Say {{word}} to {{whom}} and {{word}}.', 'say.prompt')).toMatchObject({
      slug: 'say',
      title: 'say',
      description: '',
      model: 'echo',
      textInputs: [
        { key: 'word', required: true },
        { key: 'whom', required: true },
      ],
      imageInputs: [],
    });
  });

  it('takes its inputs from the template if it has no schema', () => {
    const { textInputs, imageInputs } = parsePromptFile(
      '---\ninput:\n  default: {b: two}\n---\n{{media url=p}}{{#if a}}{{b}}{{/if}}{{@root.c}}',
      'x.prompt',
    );
    expect(textInputs.map(({ key, required }) => [key, required])).toEqual([
      ['a', true],
      ['b', false],
      ['c', true],
    ]);
    expect(imageInputs).toEqual([{ key: 'p' }]);
  });

  it('may begin with comments and carry keys of the format that mean nothing here', () => {
    const { model } = parsePromptFile(
      '# a licence\n\n---\nmodel: card\noutput: {format: json}\nmy.extension: 1\n---\nx',
      'x.prompt',
    );
    expect(model).toBe('card');
  });

  it('takes a line of dashes in the template for text', () => {
    expect(parsePromptFile('---\nmodel: echo\n---\none\n---\ntwo', 'x.prompt').template).toBe(
      'one\n---\ntwo',
    );
  });

  it.each(['constructor', '__proto__', 'toString', 'if', 'role', 'media', 'history', 'this-one'])(
    'may have an input named %s',
    name => {
      const source = `---\ninput:\n  schema:\n    ${name}: string\n---\n<{{${name}}}>`;
      const config = toPromptConfig(parsePromptFile(source, 'x.prompt'));
      expect(Object.keys(config.textInputs)).toEqual([name]);
      expect(JSON.parse(JSON.stringify(config))).toEqual(
        JSON.parse(`{"textInputs":{"${name}":{"type":"string","required":true}},"imageInputs":[]}`),
      );
    },
  );
});

describe('a bad prompt file', () => {
  it.each([
    ['YAML', joinLines('---', 'model: echo', 'title: "open', '---', 'x'), 3],
    ['a list as front matter', joinLines('---', '- model', '---', 'x'), 2],
    ['a key given twice', joinLines('---', 'title: x', 'title: y', '---', 'x'), 3],
    ['a title that is a list', joinLines('---', 'title: [x]', '---', 'x'), 2],
    ['front matter that is never closed', joinLines('', '---', 'title: x', 'hello'), 2],
    [
      'an unknown type',
      joinLines('---', 'input:', '  schema:', '    n: text, how many', '---', '{{n}}'),
      4,
    ],
    [
      'an unknown form',
      joinLines('---', 'input:', '  schema:', '    n(list): string', '---', '{{n}}'),
      4,
    ],
    [
      'a list as a type',
      joinLines('---', 'input:', '  schema:', '    n: [string]', '---', '{{n}}'),
      4,
    ],
    [
      'a JSON Schema of no type',
      joinLines(
        '---',
        'input:',
        '  schema:',
        '    type: object',
        '    properties:',
        '      n: {type: text}',
        '---',
        '{{n}}',
      ),
      6,
    ],
    [
      'a reference to elsewhere',
      joinLines('---', 'output:', '  schema:', '    $ref: https://example.com/x', '---', 'x'),
      4,
    ],
    [
      'a reference to the length of a list',
      joinLines(
        '---',
        'output:',
        '  schema:',
        '    type: object',
        '    properties:',
        '      n: {$ref: "#/required/length"}',
        '    required: [n]',
        '---',
        'x',
      ),
      6,
    ],
    ['a partial that is not there', joinLines('a', '{{> other}}'), 2],
    [
      'a default of another type',
      joinLines(
        '---',
        'input:',
        '  schema:',
        '    n: integer',
        '  default: {n: many}',
        '---',
        '{{n}}',
      ),
      5,
    ],
    [
      'an enum without values',
      joinLines('---', 'input:', '  schema:', '    n(enum): []', '---', '{{n}}'),
      4,
    ],
    [
      'an enum that is not a list',
      joinLines('---', 'input:', '  schema:', '    n(enum): a', '---', '{{n}}'),
      4,
    ],
    [
      'an input declared twice',
      joinLines('---', 'input:', '  schema:', '    n: string', '    n?: string', '---', '{{n}}'),
      5,
    ],
    [
      'a default outside the enum',
      joinLines(
        '---',
        'input:',
        '  schema:',
        '    n(enum): [a]',
        '  default: {n: b}',
        '---',
        '{{n}}',
      ),
      5,
    ],
    ['a schema that is a sentence', joinLines('---', 'input:', '  schema: A poem', '---', 'x'), 3],
    ['config that is a text', joinLines('---', 'config: fast', '---', 'x'), 2],
    [
      'a name not in the schema',
      joinLines('---', 'input:', '  schema:', '    n: string', '---', '{{n}}', '', '{{m}}'),
      8,
    ],
    [
      'a block that is never closed',
      joinLines('---', 'model: echo', '---', '', 'a', '{{#if n}}', 'b'),
      6,
    ],
    [
      'a block closed by another',
      joinLines('---', 'model: echo', '---', '', 'a', '{{#if n}}', '{{/each}}'),
      6,
    ],
    ['braces that are never closed', joinLines('a', 'b {{n'), 2],
    ['an unknown helper', joinLines('a', '{{shout n}}'), 2],
    ['a question without a subject', joinLines('a', '{{#if}}{{/if}}'), 2],
    ['an unknown block', joinLines('a', '{{#shout n}}{{/shout}}'), 2],
    ['a decorator', joinLines('a', '{{* other}}'), 2],
    ['a role an input chooses', joinLines('a', '{{role n}}'), 2],
    ['a role nobody has', joinLines('a', '{{role "tool"}}'), 2],
  ])('with %s is refused with its line', (_, source, line) => {
    expect(findFault(source, 'dir/poem.prompt')).toMatch(
      new RegExp(`^dir/poem\\.prompt:${line}: \\S.{10,}`),
    );
  });

  it.each(['.prompt', '-x.prompt', 'a b.prompt', 'a\nb.prompt', `${'x'.repeat(101)}.prompt`])(
    'named %j is refused',
    name => expect(findFault('x', name)).toContain('slug'),
  );

  it('named like an identifier is refused', () => {
    expect(findFault('x', '00000000-0000-4000-8000-000000000000.prompt')).toContain('identifier');
  });

  it('nested without end is refused, not fatal', () => {
    expect(findFault(`${'{{#if a}}'.repeat(20_000)}x${'{{/if}}'.repeat(20_000)}`)).toMatch(
      /^poem\.prompt:\d+: /,
    );
    expect(findFault(`---\ntitle: ${'['.repeat(20_000)}\n---\nx`)).toMatch(/^poem\.prompt:\d+: /);
    expect(findFault(`---\n${'- '.repeat(20_000)}\n---\nx`)).toMatch(/^poem\.prompt:\d+: /);
  });

  it('with aliases that multiply is refused, not fatal', () => {
    const lines = Array.from(
      { length: 20 },
      (_, n) => `  a${n + 1}: &a${n + 1} [*a${n}, *a${n}, *a${n}, *a${n}]`,
    );
    expect(findFault(joinLines('---', 'config:', '  a0: &a0 [x]', ...lines, '---', 'x'))).toMatch(
      /^poem\.prompt:\d+: /,
    );
  });
});
