import { describe, expect, it } from 'vitest';
import { promptConfig } from '../../../src/service/prompts/config.ts';
import { InvalidPromptFile } from '../../../src/service/prompts/definition.ts';
import { parsePromptFile } from '../../../src/service/prompts/parse.ts';

const file = (...lines: string[]): string => lines.join('\n');

function faultOf(source: string, name = 'poem.prompt'): string {
  try {
    parsePromptFile(source, name);
  } catch (error) {
    if (error instanceof InvalidPromptFile) return error.message;
    throw error;
  }
  return 'no fault';
}

describe('a prompt file', () => {
  const source = file(
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
    expect(promptConfig(definition)).toEqual({
      textInputs: {
        topic: { type: 'string', description: 'the topic, in a word', required: true },
        mood: {
          type: 'string',
          description: 'how it sounds',
          required: false,
          enum: ['gay', 'sad', '3', 'true'],
        },
        form: { type: 'string', required: false, default: 'haiku', enum: ['ode', 'haiku'] },
        note: { type: 'string', required: false },
      },
      imageInputs: [{ description: 'what it is about' }, {}],
    });
  });

  it('is the same with a byte-order mark and carriage returns', () => {
    expect(parsePromptFile(`\uFEFF${source.replaceAll('\n', '\r\n')}`, 'poem.prompt')).toEqual(definition);
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

  it('takes its inputs from the template where it has no schema', () => {
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
      const config = promptConfig(parsePromptFile(source, 'x.prompt'));
      expect(Object.keys(config.textInputs)).toEqual([name]);
      expect(JSON.parse(JSON.stringify(config))).toEqual(
        JSON.parse(`{"textInputs":{"${name}":{"type":"string","required":true}},"imageInputs":[]}`),
      );
    },
  );
});

describe('a bad prompt file', () => {
  it.each([
    ['YAML', file('---', 'model: echo', 'title: "open', '---', 'x'), 3],
    ['a list as front matter', file('---', '- model', '---', 'x'), 2],
    ['an unknown key', file('---', 'title: x', 'modle: echo', '---', 'x'), 3],
    ['a key given twice', file('---', 'title: x', 'title: y', '---', 'x'), 3],
    ['a title that is a list', file('---', 'title: [x]', '---', 'x'), 2],
    ['front matter that is never closed', file('', '---', 'title: x', 'hello'), 2],
    ['no template', file('---', 'title: x', '---', '', ''), 3],
    ['nothing at all', '', 1],
    ['an unknown type', file('---', 'input:', '  schema:', '    n: number, how many', '---', '{{n}}'), 4],
    ['a list input', file('---', 'input:', '  schema:', '    n(array): string', '---', '{{n}}'), 4],
    [
      'an object input',
      file('---', 'input:', '  schema:', '    n(object):', '      a: string', '---', '{{n}}'),
      4,
    ],
    ['a nested input', file('---', 'input:', '  schema:', '    n:', '      a: string', '---', '{{n}}'), 5],
    ['an enum without values', file('---', 'input:', '  schema:', '    n(enum): []', '---', '{{n}}'), 4],
    ['an enum that is no list', file('---', 'input:', '  schema:', '    n(enum): a', '---', '{{n}}'), 4],
    ['an enum with null', file('---', 'input:', '  schema:', '    n(enum): [a, null]', '---', '{{n}}'), 4],
    [
      'an input declared twice',
      file('---', 'input:', '  schema:', '    n: string', '    n?: string', '---', '{{n}}'),
      5,
    ],
    ['a wildcard', file('---', 'input:', '  schema:', '    (*): string', '---', 'x'), 4],
    [
      'a default for nothing',
      file('---', 'input:', '  schema:', '    n: string', '  default:', '    m: x', '---', '{{n}}'),
      6,
    ],
    [
      'a default outside the enum',
      file('---', 'input:', '  schema:', '    n(enum): [a]', '  default: {n: b}', '---', '{{n}}'),
      5,
    ],
    ['a default that is a list', file('---', 'input:', '  default:', '    n: [a]', '---', '{{n}}'), 4],
    ['a schema that is a name', file('---', 'input:', '  schema: Poem', '---', 'x'), 3],
    ['config that is a text', file('---', 'config: fast', '---', 'x'), 2],
    [
      'a name not in the schema',
      file('---', 'input:', '  schema:', '    n: string', '---', '{{n}}', '', '{{m}}'),
      8,
    ],
    [
      'an optional picture',
      file('---', 'input:', '  schema:', '    p?: string', '---', '{{media url=p}}'),
      4,
    ],
    [
      'a picture with a default',
      file('---', 'input:', '  default:', '    p: x', '---', '{{media url=p}}'),
      4,
    ],
    ['a picture shown as text', file('---', 'model: echo', '---', '{{media url=p}}', '{{p}}'), 5],
    ['a block that is never closed', file('---', 'model: echo', '---', '', 'a', '{{#if n}}', 'b'), 6],
    ['a block closed by another', file('---', 'model: echo', '---', '', 'a', '{{#if n}}', '{{/each}}'), 6],
    ['braces that are never closed', file('a', 'b {{n'), 2],
    ['an unknown helper', file('a', '{{shout n}}'), 2],
    ['a question without a subject', file('a', '{{#if}}{{/if}}'), 2],
    ['an unknown block', file('a', '{{#shout n}}{{/shout}}'), 2],
    ['a partial', file('a', '{{> other}}'), 2],
    ['a decorator', file('a', '{{* other}}'), 2],
    ['a loop over a text', file('a', '{{#each n}}{{this}}{{/each}}'), 2],
    ['a part of a text', file('a', '{{n.length}}'), 2],
    ['a way out of the template', file('a', '{{../n}}'), 2],
    ['all inputs as text', file('a', '{{this}}'), 2],
    ['a role an input chooses', file('a', '{{role n}}'), 2],
    ['a role nobody has', file('a', '{{role "tool"}}'), 2],
    ['a picture by its address', file('a', '{{media url="https://example.com/x.png"}}'), 2],
    ['an expression', file('a', '{{#if (lookup this "constructor")}}{{/if}}'), 2],
  ])('with %s is refused with its line', (_, source, line) => {
    expect(faultOf(source, 'dir/poem.prompt')).toMatch(new RegExp(`^dir/poem\\.prompt:${line}: \\S.{10,}`));
  });

  it.each(['.prompt', '-x.prompt', '_part.prompt', 'a b.prompt', 'a\nb.prompt', `${'x'.repeat(101)}.prompt`])(
    'named %j is refused',
    name => expect(faultOf('x', name)).toContain('slug'),
  );

  it('named like an identifier is refused', () => {
    expect(faultOf('x', '00000000-0000-4000-8000-000000000000.prompt')).toContain('identifier');
  });

  it('nested without end is refused, not fatal', () => {
    expect(faultOf(`${'{{#if a}}'.repeat(20_000)}x${'{{/if}}'.repeat(20_000)}`)).toMatch(
      /^poem\.prompt:\d+: /,
    );
    expect(faultOf(`---\ntitle: ${'['.repeat(20_000)}\n---\nx`)).toMatch(/^poem\.prompt:\d+: /);
    expect(faultOf(`---\n${'- '.repeat(20_000)}\n---\nx`)).toMatch(/^poem\.prompt:\d+: /);
  });

  it('with aliases that multiply is refused, not fatal', () => {
    const lines = Array.from(
      { length: 20 },
      (_, n) => `  a${n + 1}: &a${n + 1} [*a${n}, *a${n}, *a${n}, *a${n}]`,
    );
    expect(faultOf(file('---', 'config:', '  a0: &a0 [x]', ...lines, '---', 'x'))).toMatch(
      /^poem\.prompt:\d+: /,
    );
  });
});
