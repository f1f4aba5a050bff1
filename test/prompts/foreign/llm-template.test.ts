import { describe, expect, it } from 'vitest';
import { findingsIn, readAs, readConverted, renderConverted, renderForeign } from './read-as.ts';

const TEMPLATE = `model: gpt-6-luna
system: Be $style, at most $$5
prompt: 'Sum up {{this}}: \${input} for $who'
defaults: { style: brief, who: 7.50 }
options: { temperature: 0.5, max_tokens: 100, top_p: 0.9 }
`;

describe('a template of `llm`', () => {
  it('has its variables as inputs, with their defaults', () => {
    expect(readAs('t.yaml', TEMPLATE)).toMatchObject({
      slug: 't',
      model: 'gpt-6-luna',
      config: { temperature: 0.5, maxOutputTokens: 100, topP: 0.9 },
    });
    expect(renderForeign('t.yaml', TEMPLATE, { input: '$who' })).toEqual([
      'system: Be brief, at most $5',
      'user: Sum up {{this}}: $who for 7.5',
    ]);
    expect(() => renderForeign('t.yaml', TEMPLATE)).toThrow('input');
  });

  it('renders the same messages once it is converted', async () => {
    const inputs = { input: 'it', style: 'long' };
    expect(await renderConverted('t.yaml', TEMPLATE, inputs)).toEqual(
      renderForeign('t.yaml', TEMPLATE, inputs),
    );
  });

  it('names the provider of its model once it is converted', async () => {
    expect(await readConverted('t.yaml', TEMPLATE)).toMatchObject({ model: 'openai/gpt-6-luna' });
    const text = '---\ndescription: x\nmodel: claude-haiku-4-5\n---\nmodel: gpt-4o\n';
    expect(await readConverted('c.md', text)).toMatchObject({
      model: 'anthropic/claude-haiku-4-5',
      template: expect.stringMatching(/^model: gpt-4o/u),
    });
    expect(await readConverted('t.yaml', 'prompt: x\nmodel: mine\n')).toMatchObject({
      model: 'mine',
    });
  });

  it('appends the input on its own line if the prompt does not place it', () => {
    expect(renderForeign('t.yml', 'prompt: Sum up', { input: 'this' })).toEqual([
      'user: Sum up\nthis',
    ]);
    expect(renderForeign('t.yml', 'prompt: Sum up')).toEqual(['user: Sum up']);
  });

  it('has no line break at the end of a block that ends the file without one, as in `llm`', () => {
    expect(renderForeign('t.yaml', 'prompt: |\n  Sum\n\n  up', { input: 'this' })).toEqual([
      'user: Sum\n\nup\nthis',
    ]);
    expect(renderForeign('t.yaml', 'system: >-\n  a\nprompt: x\n')).toEqual([
      'system: a',
      'user: x',
    ]);
    expect(renderForeign('t.yaml', 'prompt: x\nsystem: |\n  a')).toEqual(['system: a', 'user: x']);
    expect(renderForeign('t.yaml', 'prompt: "x\\n"')).toEqual(['user: x\n']);
  });

  it('keeps the line break at the end of a block before the input, as `llm` does', async () => {
    const template = 'prompt: |\n  Sum up\n';
    expect(renderForeign('t.yaml', template, { input: 'this' })).toEqual(['user: Sum up\n\nthis']);
    expect(renderForeign('t.yaml', template)).toEqual(['user: Sum up\n']);
    expect(await renderConverted('t.yaml', template, { input: 'this' })).toEqual([
      'user: Sum up\n\nthis',
    ]);
  });

  it('asks with the input alone if it has only a schema', () => {
    const template = 'schema_object: { type: object, properties: { a: { type: string } } }\n';
    expect(renderForeign('t.yaml', template, { input: 'Why?' })).toEqual(['user: Why?']);
    expect(readAs('t.yaml', template).output).toMatchObject({
      format: 'json',
      schema: { type: 'object' },
    });
  });

  it('asks with the input alone if it has only a system part', () => {
    expect(renderForeign('t.yaml', 'system: Be brief', { input: 'Why?' })).toEqual([
      'system: Be brief',
      'user: Why?',
    ]);
    expect(renderForeign('t.yaml', "system: Be brief\nprompt: ''", { input: 'Why?' })).toEqual([
      'system: Be brief',
      'user: Why?',
    ]);
  });

  it('requires the output that its schema and options describe', () => {
    const schema = 'schema_object: { type: object, properties: { a: { type: string } } }';
    expect(readAs('t.yaml', `prompt: x\n${schema}`).output).toEqual({
      format: 'json',
      schema: { type: 'object', properties: { a: { type: 'string' } } },
    });
    expect(readAs('t.yaml', 'prompt: x\nextract: true').output).toEqual({ extract: 'first' });
    expect(readAs('t.yaml', 'prompt: x\nextract_last: true').output).toEqual({ extract: 'last' });
    expect(readAs('t.yaml', 'prompt: x\noptions: {json_object: true}')).toMatchObject({
      output: { format: 'json' },
      config: {},
    });
  });

  it('has a fault for each key that has no equivalent', () => {
    const text = 'prompt: x\nfragments: [a.txt]\nsystem_fragments: []\ntools: [llm_time]\n';
    expect(findingsIn('t.yaml', text)).toEqual([
      'fault 2: `fragments`: fragments of `llm` are not supported here',
      'fault 4: `tools`: tools of `llm` are not supported here',
    ]);
  });

  it('has a fault at the line of an option that no model takes', () => {
    expect(findingsIn('t.yaml', 'prompt: x\noptions:\n  temperature: hot\n')).toEqual([
      'fault 3: `temperature` must be a number from 0 to 2, not `hot`',
    ]);
  });
});
