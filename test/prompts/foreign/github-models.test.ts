import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../src/files/formats/json.ts';
import type { PromptDefinition } from '../../../src/prompts/definition.ts';
import { convertForeign, parseForeignTests } from '../../../src/prompts/foreign/convert-foreign.ts';
import { formatTestFile } from '../../../src/prompts/foreign/file-texts.ts';
import { parseAnyPrompt } from '../../../src/prompts/foreign/parse-any-prompt.ts';
import { parsePromptFile } from '../../../src/prompts/parse/parse-prompt.ts';
import { previewPrompt } from '../../../src/prompts/render/preview-prompt.ts';
import { findingsIn } from './read-as.ts';

const FILE = `name: Sum up
description: In one sentence
model: openai/gpt-4o
modelParameters:
  max_tokens: 100
  temperature: 0.2
  topP: 0.9
messages:
  - role: SYSTEM
    content: "You sum up.  "
  - role: User
    content: |

      {"text": {{text.body-1}}}
      {{#if}} {{ text }} {{else}}
  - role: Assistant
    content: ok
`;

const TESTS = `${FILE}testData:
  - text.body-1: Some long words
    else: 7
    expected: Short
    n: 1.50
  - {text.body-1: "@file", else: true, expected: "", note: [1, {a: b}]}
evaluators:
  - name: a
    string: { contains: "{{expected}} and {{text.body-1}} {{none}}" }
  - name: b
    string: { startsWith: A, equals: "{{n}}" }
  - name: c
    llm:
      modelId: openai/gpt-4o-mini
      systemPrompt: Be strict
      prompt: "Is {{completion}} like {{expected}}?"
      choices: [{ choice: "yes", score: 1 }, { choice: 2, score: 0.5 }]
  - name: d
    uses: github/similarity
`;

const listFindings = (text: string, file = 'x.prompt.yml') => findingsIn(file, text);

describe('a prompt of GitHub Models', () => {
  it('becomes a prompt whose messages are exactly as they stand', () => {
    const { definition } = parseAnyPrompt(FILE, 'dir/sum.prompt.yml');
    expect(definition).toMatchObject({
      slug: 'sum',
      title: 'Sum up',
      model: 'openai/gpt-4o',
      config: { maxOutputTokens: 100, temperature: 0.2, topP: 0.9 },
      textInputs: [
        { key: 'text.body-1', required: true, type: 'string' },
        { key: 'else', required: true, type: 'string' },
      ],
    });

    const inputs = { 'text.body-1': '{{else}}', else: 'E' };
    expect(previewPrompt(definition as PromptDefinition, { inputs }).messages).toEqual([
      { role: 'system', content: [{ text: 'You sum up.  ' }] },
      { role: 'user', content: [{ text: '\n{"text": {{else}}}\n{{#if}} {{ text }} E\n' }] },
      { role: 'model', content: [{ text: 'ok' }] },
    ]);
  });

  it('adds no line break to a block that ends the file without one, as gh models reads it', () => {
    const readContents = (file: string) => {
      const { definition } = parseAnyPrompt(file, 'x.prompt.yml');
      return previewPrompt(definition as PromptDefinition, {}).messages.flatMap(
        ({ content }) => content,
      );
    };

    const file =
      'messages:\n  - role: system\n    content: |\n      a\n  - role: user\n    content: |\n      b\n\n      c';
    expect(readContents(file)).toEqual([{ text: 'a\n' }, { text: 'b\n\nc' }]);
    expect(readContents(`${file}\n`)).toEqual([{ text: 'a\n' }, { text: 'b\n\nc\n' }]);
    expect(readContents(file.replaceAll('|', '>'))).toEqual([{ text: 'a\n' }, { text: 'b\nc' }]);
    expect(readContents(`${file}\n    # no more`)).toEqual([{ text: 'a\n' }, { text: 'b\n\nc\n' }]);
  });

  it('merges the maps at `<<`, as gh models does', () => {
    const file = `defaults: &d { temperature: 0.5, topP: 0.9 }
other: &o { maxTokens: 5, topP: 0.1 }
modelParameters:
  <<: [*d, *o]
  temperature: 0.7
messages:
  - &u { role: user, content: "A {{n}}" }
  - <<: *u
    role: assistant
`;
    const { definition } = parseAnyPrompt(file, 'x.prompt.yml');

    expect(definition?.config).toEqual({ temperature: 0.7, topP: 0.9, maxOutputTokens: 5 });
    expect(previewPrompt(definition as PromptDefinition, { inputs: { n: '1' } }).messages).toEqual([
      { role: 'user', content: [{ text: 'A 1' }] },
      { role: 'model', content: [{ text: 'A 1' }] },
    ]);
    expect(listFindings(file.replace('[*d, *o]', '5'))).toEqual([
      'fault 4: `<<` must be a map or a list of maps',
    ]);
    expect(listFindings('messages:\n - &a { role: user, content: x, <<: *a }')).toEqual([]);

    const keys = Array.from({ length: 1000 }, (_, index) => `k${index}: 1`).join(', ');
    const aliases = `${'*a, '.repeat(5000)}*a`;

    expect(
      listFindings(`a: &a { ${keys} }\nmessages: [{ role: user, content: x, <<: [${aliases}] }]`),
    ).toEqual(['fault 2: this merges too many keys']);
  });

  it('has a fault at the line of a parameter that no model takes', () => {
    const fileWithFault = FILE.replace(
      /modelParameters:\n/,
      'modelParameters:\n  presencePenalty: 3\n',
    );
    expect(listFindings(fileWithFault)).toEqual([
      'fault 5: `presencePenalty` must be a number from -2 to 2, not `3`',
    ]);
  });

  it('reports a parameter that is not known, and does not send it', () => {
    const fileWithUnknown = FILE.replace(/modelParameters:\n/, 'modelParameters:\n  warmth: 3\n');
    expect(listFindings(fileWithUnknown)).toEqual([
      'note 5: the parameter `warmth` is unknown: it is not sent',
    ]);
    expect(parseAnyPrompt(fileWithUnknown, 'x.prompt.yml').definition?.config).not.toHaveProperty(
      'warmth',
    );
  });

  it('leaves the placeholder as text if a row lacks an input, and reports it', () => {
    const tests = parseForeignTests(
      `${FILE}testData:\n  - else: E\nevaluators: []\n`,
      'x.prompt.yml',
    );
    expect(tests?.cases.map(({ inputs }) => inputs)).toEqual([
      { else: 'E', 'text.body-1': '{{text.body-1}}' },
    ]);
    expect(tests?.notes.map(({ message }) => message)).toEqual([
      'this row has no `text.body-1`: {{text.body-1}} stays as text',
    ]);
  });

  it('refuses a null in a row', () => {
    const text = `${FILE}testData:\n  - else: ~\n    text.body-1: b\n`;
    expect(() => parseForeignTests(text, 'x.prompt.yml')).toThrow(
      '`else` is null: write "" for an empty text',
    );
  });

  it('is recognised under any file name', () => {
    expect(listFindings(FILE, 'prompts/sum.yml')).toEqual([]);
    expect(listFindings(FILE, 'sum.prompt')).toEqual([]);
  });

  it.each<[string, JsonObject]>([
    ['responseFormat: text', {}],
    ['responseFormat: json_object', { format: 'json' }],
    [
      'responseFormat: json_schema\njsonSchema: \'{"name": "n", "strict": true, "schema": {"type": "array"}}\'',
      { format: 'json', schema: { type: 'array' }, named: { name: 'n', strict: true } },
    ],
    [
      'responseFormat: json_schema\njsonSchema:\n  name: n\n  description: d\n  schema: {type: array}',
      { format: 'json', schema: { type: 'array' }, named: { name: 'n', description: 'd' } },
    ],
    [
      'responseFormat: json_schema\njsonSchema: {type: object, properties: {a: {type: string}}}',
      { format: 'json', schema: { type: 'object', properties: { a: { type: 'string' } } } },
    ],
  ])('requires the output that it describes: %s', (format, output) =>
    expect(parseAnyPrompt(`${FILE}${format}\n`, 'x.prompt.yml').definition?.output).toEqual(output),
  );

  it('has every fault reported, with its line', () => {
    const text =
      'model: [a]\nmessages:\n  - role: judge\n    content: x\n  - content: y\n  - role: user\nresponseFormat: xml\nflavour: mint\n';
    expect(listFindings(text)).toEqual([
      'fault 1: model must be text',
      'fault 3: the `role` of a message must be system, user or assistant',
      'fault 5: the `role` of a message must be system, user or assistant',
      'fault 6: a message needs `content`',
      'fault 7: `responseFormat` is text, json_object or json_schema, not `xml`',
      'note 8: `flavour` is not a key of GitHub Models: it has no effect',
    ]);

    expect(listFindings('name: x\n')).toEqual([
      'fault 1: `messages` must be a list with a message',
    ]);
    expect(listFindings('messages: [')).toHaveLength(1);

    const content = 'messages:\n  - role: user\n    content: x\n';
    expect(listFindings(`${content}name: "a\\0"\n`)).toEqual([
      "fault 4: name can't hold the character NUL (U+0000): remove it",
    ]);
  });

  it('may be large, except for its messages', () => {
    const rows = Array.from(
      { length: 20_000 },
      (_, n) => `  - {text.body-1: row ${n}, else: x}\n`,
    ).join('');
    expect(listFindings(`${FILE}testData:\n${rows}`)).toEqual([]);
    const large = `messages:\n  - {role: user, content: "${'x'.repeat(130 * 1024)}"}\n`;
    expect(listFindings(large)).toEqual(['fault 1: the messages are larger than 128 KiB']);
  });
});

describe('the tests of a prompt of GitHub Models', () => {
  it('are its rows, with its evaluators filled in for each', () => {
    const tests = parseForeignTests(TESTS, 'x.prompt.yml');
    expect(tests?.model).toBe('openai/gpt-4o');
    expect(tests?.notes).toEqual([
      { line: 28, message: '`startsWith` has no effect next to `equals`' },
    ]);
    expect(tests?.cases[0]).toMatchObject({
      name: '1: Some long words',
      line: 19,
      inputs: { 'text.body-1': 'Some long words', else: '7' },
      data: { expected: 'Short', n: '1.50' },
      expect: [
        { kind: 'icontains', line: 26, text: 'Short and Some long words {{none}}' },
        { kind: 'equals', line: 28, text: '1.50' },
        {
          kind: 'llm',
          model: 'openai/gpt-4o-mini',
          systemPrompt: 'Be strict',
          prompt: 'Is {{completion}} like {{expected}}?',
          choices: [
            { choice: 'yes', score: 1 },
            { choice: '2', score: 0.5 },
          ],
        },
        { kind: 'rubric', text: expect.stringContaining('The expected answer:\nShort') },
      ],
    });

    expect(tests?.cases[1]).toMatchObject({
      inputs: { 'text.body-1': '@file', else: 'true' },
      data: { expected: '', note: '[1,{"a":"b"}]' },
    });
    expect(new Set(tests?.cases[0]?.expect.map(({ at }) => at)).size).toBe(4);
  });

  it.each([
    [
      'evaluators: [{name: a, python: x}]',
      /: `python` is not known; the kinds are string, llm and uses$/,
    ],
    ['evaluators: [{name: a}]', /: an evaluator has one kind; the kinds are string, llm and uses$/],
    ['evaluators: [{string: {matches: x}}]', /`matches` is not a check of a string/],
    ['evaluators: [{uses: github/magic}]', /`github\/magic` is not an evaluator/],
    [
      'evaluators: [{uses: github/similarity}]',
      /github\/similarity needs the field `expected` in each row/,
    ],
    ['evaluators: [{llm: {prompt: x}}]', /`llm` needs a prompt and choices/],
  ])('%s is a fault with its line', (evaluators, message) => {
    const text = `${FILE}testData: [{else: x}]\n${evaluators}\n`;
    expect(() => parseForeignTests(text, 'x.prompt.yml')).toThrow(message);
    expect(() => parseForeignTests(text, 'x.prompt.yml')).toThrow(/^x\.prompt\.yml:\d\d: /);
    // It can be run anyway, and converted without that check.
    expect(listFindings(text)).toEqual([]);
  });

  it('keep a string check that has a key unknown to gh models, and report the key', () => {
    const text = `${FILE}testData: [{else: x}]\nevaluators:\n  - string:\n      contains: y\n      strict: true\n`;
    const tests = parseForeignTests(text, 'x.prompt.yml');
    expect(tests?.cases[0]?.expect).toMatchObject([{ kind: 'icontains', text: 'y' }]);
    const message = '`strict` of a string check is a key that gh models ignores too';
    expect(tests?.notes).toContainEqual({ line: 22, message });
  });

  it('are written as a test file of promptrun', async () => {
    const converted = await convertForeign(TESTS, 'x.prompt.yml', {
      directory: '/',
      settingNames: [],
    });
    const { promptText, notes } = converted;
    const test = formatTestFile(converted.testContent ?? {});

    expect(parsePromptFile(promptText, 'x.prompt').title).toBe('Sum up');
    expect(test).toMatch(/^trim: true\ncases:\n/);
    expect(test).toContain('text.body-1: "@@file"');
    expect(test).toContain('prompt: Is {{completion}} like Short?');
    expect(notes.map(({ line, message }) => `${line}: ${message}`)).toEqual([
      '28: `startsWith` has no effect next to `equals`',
      expect.stringMatching(/^36: judged by the model/),
    ]);
  });
});

describe('a file of another form', () => {
  it.each([
    [
      'promptfooconfig.yaml',
      'prompts: [hi]\nproviders: [openai:gpt-4o]\n',
      /a configuration of promptfoo.*prompts new/,
    ],
    [
      't.prompt',
      'system: Be brief\nprompt: "Sum up: $input"\n',
      /a template of `llm`, which ends in .yaml/,
    ],
    ['t.yaml', 'system: Be brief\nprompt: Hi\nvoice: calm\n', /YAML of an unknown form/],
    ['promptfooconfig.yaml', 'prompts: [hi]\nproviders: [\n', /this is not YAML: /],
    ['t.j2', '{% if x %}', /a template of Jinja/],
    ['x.test.yaml', 'cases: []', /a test file of promptrun/],
    ['models.yaml', 'models: [{ model: llama }]\n', /a models file .*--models-from/],
    ['data.jsonl', '{}', /JSONL/],
    [
      't.yaml',
      'targets: [echo]\nredteam: { purpose: p }\n',
      /this is a red team of promptfoo without tests/,
    ],
    ['thing.bin', 'x', /a file of an unknown form/],
  ])('is reported as such: %s', (name, text, message) =>
    expect(listFindings(text, name)).toEqual([expect.stringMatching(message)]),
  );
});
