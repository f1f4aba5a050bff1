import { describe, expect, it } from 'vitest';
import {
  convert,
  noteLines,
  PROVIDERS,
  parseCases,
  renderMessages,
} from './convert-configuration.ts';

describe('conversion of values from promptfoo', () => {
  const PROMPT = `prompts: ["{{a}}"]\n${PROVIDERS}tests:\n`;

  it.each([
    ['1.50', '1.5'],
    ['007', '7'],
    ['1e3', '1000'],
    ['"007"', '007'],
    ['|\n        one\n        two\n', 'one\ntwo'],
  ])('reads %j as %j', async (yaml, value) => {
    const converted = await convert(`${PROMPT}  - vars:\n      a: ${yaml}\n`);
    expect(parseCases(converted)[0]?.inputs).toEqual({ a: value });
  });

  it.each([
    [
      'contains-any',
      `'one, "two, three"'`,
      { any: [{ contains: 'one' }, { contains: 'two, three' }] },
    ],
    ['contains-json', undefined, { containsJson: { type: ['object', 'array'] } }],
  ])('reads the value of %s', async (type, value, expectation) => {
    const valueField = value === undefined ? '' : `, value: ${value}`;
    const converted = await convert(`${PROMPT}  - assert: [{ type: ${type}${valueField} }]\n`);
    expect(parseCases(converted)[0]?.expect).toEqual([expectation]);
  });

  it.each([
    'Intl.DateTimeFormat().format()',
    'process.env.X',
    'output.localeCompare("b")',
    'new URL(output)',
  ])('refuses javascript that only Node can run without --allow-commands: %s', async value => {
    const text = JSON.stringify({
      prompts: ['a'],
      providers: ['echo'],
      tests: [{ assert: [{ type: 'javascript', value }] }],
    });
    const refused = await convert(text, { isForTest: true });

    expect(noteLines(refused)).toEqual([
      'in/promptfooconfig.yaml:1: the assertion `javascript` runs a program, which runs only with --allow-commands',
    ]);
    expect(parseCases(await convert(text, { isForTest: true, allowCommands: true }))).toEqual([
      { name: 'case 1', expect: [{ javascript: value }] },
    ]);
    expect(noteLines(await convert(text))).toEqual([
      expect.stringMatching(/`javascript` uses `\w+`, which its engine does not have$/u),
    ]);
  });

  it('reports transforms that need Node with their lines', async () => {
    const text = `prompts: [a]
providers: [{ id: echo, transform: "new URL(output).host" }]
tests:
  - options: { transform: "output.toLocaleString()" }
    assert: [{ type: contains, value: a, transform: "process.env.A" }]
`;
    const note = (line: number, used: string): string =>
      `in/promptfooconfig.yaml:${line}: a transform uses \`${used}\`, which its engine does not have`;
    expect(noteLines(await convert(text, { isForTest: true, allowCommands: true }))).toEqual([
      note(4, 'toLocaleString'),
      note(5, 'process'),
      note(2, 'URL'),
    ]);
  });

  it('reads a file whose extension is the name of a property as text', async () => {
    const config =
      'prompts: ["{{a}}"]\nproviders: [echo]\ntests: [{vars: {a: file://x.constructor}}]';
    const converted = await convert(config, { files: { 'x.constructor': 'a text' } });
    expect(parseCases(converted)[0]?.inputs).toEqual({ a: 'a text' });
  });

  it('leaves out an empty `contains`, with a note', async () => {
    const converted = await convert(`${PROMPT}  - assert: [{ type: contains, value: "" }]\n`);
    expect([parseCases(converted)[0]?.expect, noteLines(converted)]).toEqual([
      undefined,
      [expect.stringMatching(/:4: the assertion `contains` has nothing to check/u)],
    ]);
  });

  it.each([
    ['a comment', '# chat\n- role: user\n  content: Hi'],
    ['a document mark', '---\n- role: user\n  content: Hi'],
    ['quoted keys', '- "role": user\n  "content": Hi'],
    ['another key', '- name: x\n  role: user\n  content: Hi'],
    ['flow style', '- {content: Hi, role: user}'],
  ])('reads a chat in YAML that begins with %s', async (_, chat) => {
    const config = `prompts: [file://c.yaml]\n${PROVIDERS}`;
    expect(renderMessages(await convert(config, { files: { 'c.yaml': chat } }))).toEqual([
      ['user', 'Hi'],
    ]);
  });
});
