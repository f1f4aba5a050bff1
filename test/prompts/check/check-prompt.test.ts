import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createKnownModels } from '../../../src/models/catalogue/known-models.ts';
import { BUILT_IN_MODELS } from '../../../src/models/model-entry.ts';
import { guessModel } from '../../../src/models/providers/guessed-model.ts';
import { listKnownProviders } from '../../../src/models/providers/providers.ts';
import { buildStarterPrompt } from '../../../src/prompts/built-in/built-in-texts.ts';
import { checkPromptFile } from '../../../src/prompts/check/check-file.ts';
import { checkPrompt } from '../../../src/prompts/check/check-prompt.ts';
import { type PromptDefinition, toPromptConfig } from '../../../src/prompts/definition.ts';
import { parsePromptFile } from '../../../src/prompts/parse/parse-prompt.ts';
import { previewFromTexts, previewPrompt } from '../../../src/prompts/render/preview-prompt.ts';
import { inProcessTasks } from '../../../src/prompts/tasks/prompt-tasks.ts';
import { readPromptFile } from '../../../src/prompts/tasks/read-prompt.ts';
import { type LocalStore, openStore } from '../../../src/service/local-store.ts';
import { createTemporaryDirectory } from '../../support/context.ts';

const models = createKnownModels({
  get: (name: string) => BUILT_IN_MODELS.find(({ model }) => model === name),
  explainMissing: (name: string) => `the model ${name} does not exist`,
});

async function listFindings(...lines: string[]): Promise<string[]> {
  const findings = await checkPrompt(lines.join('\n'), 'x.prompt', { models, needsModel: false });
  return findings.map(
    ({ severity, line, column, message }) => `${severity} ${line}:${column} ${message}`,
  );
}

it('finds a fault after hundreds of notes', async () => {
  const unknownKeys = Array.from({ length: 210 }, (_, index) => `unknown${index}: 1`);
  const findings = await listFindings('---', ...unknownKeys, '---', '{{#if a}}');
  expect(findings.filter(finding => finding.startsWith('fault'))).toEqual([
    'fault 213:1 this block is never closed',
  ]);
});

describe('checking the options of a prompt', () => {
  const requireProvider = (name: string) => {
    const provider = listKnownProviders({}).find(candidate => candidate.name === name);
    if (!provider) throw new Error(`${name} is not known`);
    return provider;
  };

  const guessedModels = createKnownModels({
    get: (name: string) => {
      const [prefix = '', id = ''] = name.split('/');
      return guessModel(requireProvider(prefix), name, { id, guessedFrom: 'prefix' });
    },
    explainMissing: () => '',
  });

  const findNotes = async (model: string, ...config: string[]): Promise<string[]> => {
    const text = [
      '---',
      `model: ${model}`,
      'config:',
      ...config.map(line => `  ${line}`),
      '---',
      'x',
    ];
    const findings = await checkPrompt(text.join('\n'), 'x.prompt', { models: guessedModels });
    return findings.map(({ severity, line, message }) => `${severity} ${line} ${message}`);
  };

  it('finds values of the wrong type or out of their range, whatever the model is', async () => {
    const findings = await listFindings(
      '---',
      'model: nobody-knows',
      'config:',
      '  temperature: hot',
      '  topP: 2',
      '  topK: 0',
      '  maxOutputTokens: 1.5',
      '  seed: "1.5"',
      '  frequencyPenalty: -3',
      '  presencePenalty: [1]',
      '  stopSequences: [a, 1]',
      '---',
      'x',
    );
    expect(findings.slice(1)).toEqual([
      'fault 4:3 `temperature` must be a number from 0 to 2, not `hot`',
      'fault 5:3 `topP` must be a number from 0 to 1, not `2`',
      'fault 6:3 `topK` must be a whole number, 1 or more, not `0`',
      'fault 7:3 `maxOutputTokens` must be a whole number, 1 or more, not `1.5`',
      'fault 8:3 `seed` must be a whole number, not `1.5`',
      'fault 9:3 `frequencyPenalty` must be a number from -2 to 2, not `-3`',
      'fault 10:3 `presencePenalty` must be a number from -2 to 2, not `[1]`',
      'fault 11:3 `stopSequences` must be text or a list of texts, not `["a",1]`',
    ]);
  });

  it('takes numbers in quotes, and values of other options as they are', async () => {
    const lines = [
      'temperature: "0.5"',
      'topK: "40"',
      'seed: -7',
      'stopSequences: END',
      'other: hot',
    ];
    expect(await findNotes('ollama/llama3.2', ...lines, 'topP:')).toEqual([]);
  });

  it('names the option that was probably meant, sent or not', async () => {
    const misspelt =
      'note 4 `temprature` is not an option that providers share; did you mean temperature?';
    expect(await findNotes('openai/gpt-4.1', 'temprature: 1', 'style: formal')).toEqual([misspelt]);
    expect(
      await listFindings('---', 'model: nobody-knows', 'config:', '  temprature: 1', '---', 'x'),
    ).toContain(
      'note 4:3 `temprature` is not an option that providers share; did you mean temperature?',
    );
    expect(
      await listFindings('---', 'model: sandbox', 'config:', '  outcom: failed', '---', 'x'),
    ).toEqual([
      'note 4:3 the model `sandbox` ignores `outcom`: it has delaySeconds, outcome; did you mean outcome?',
    ]);
  });

  it('notes what a known model does not take, or takes less of', async () => {
    expect(await findNotes('openai/gpt-5.6', 'temperature: 0.5', 'seed: 7')).toEqual([
      'note 4 gpt-5.6 does not take temperature: left out',
      'note 5 gpt-5.6 does not take seed: left out',
    ]);
    expect(await findNotes('openai/gpt-5.6', 'temperature: 0.5', 'reasoningEffort: none')).toEqual(
      [],
    );
    expect(await findNotes('anthropic/claude-haiku-4-5', 'temperature: 2')).toEqual([
      'note 4 claude-haiku-4-5 takes a temperature of at most 1: 1 is sent',
    ]);
  });
});

describe('checking a prompt', () => {
  it('finds every fault of front matter and template, in their order', async () => {
    const findings = await listFindings(
      '---',
      'model: gpt-9',
      'title: [x]',
      'input:',
      '  schema:',
      '    a: text',
      '    b(list): string',
      '    c: integer',
      '  default:',
      '    c: many',
      'output:',
      '  schema:',
      '    type: object',
      '    properties:',
      '      d: {type: strin}',
      '---',
      '{{a}} {{shout c}}',
      '  {{role c}} {{> none}}',
    );
    expect(findings).toEqual([
      'note 2:8 the model gpt-9 does not exist',
      'fault 3:8 title must be text',
      expect.stringMatching(/^fault 6:8 `text` is not a type: /),
      expect.stringMatching(
        /^fault 7:5 `b`: the word in parentheses must be array, object or enum, not `list`/,
      ),
      'fault 10:5 the default of `c` must be of the type integer, not text',
      expect.stringMatching(/^fault 15:17 "strin" is not a type of JSON Schema/),
      expect.stringMatching(/^fault 17:9 the helper `shout` is not known: /),
      expect.stringMatching(/^fault 18:3 write a role as /),
      expect.stringMatching(
        /^fault 18:14 unknown partial `none`: it would be the file _none\.prompt /,
      ),
    ]);
  });

  it('finds every place that is not YAML, and then checks the template', async () => {
    const findings = await listFindings('---', 'title: "open', 'model: echo', '---', '{{#if a}}');
    expect(findings[0]).toMatch(/^fault \d:\d+ this is not YAML: /);
    expect(findings.at(-1)).toBe('fault 5:1 this block is never closed');
  });

  it('names the place where a comment opens that is never closed', async () => {
    expect(await listFindings('hi {{!-- never }}', 'x')).toEqual([
      'fault 1:4 this tag is never closed',
    ]);
  });

  it("finds what is wrong beside tags that can't be read", async () => {
    expect(
      await listFindings(
        '{{shout a}} {{a b',
        ' {{#if a}} {{/each}}',
        'x {{role "nobody"}} {{/if}} {{"}} é',
        '{{#each l}}{{> none}}',
      ),
    ).toEqual([
      expect.stringMatching(/^fault 1:3 the helper `shout`/),
      'fault 1:13 this tag is never closed',
      'fault 2:5 `if` is not ended by {{/each}}',
      expect.stringMatching(/^fault 3:3 write a role as/),
      'fault 3:21 `{{/if}}` ends a block that was never opened',
      "fault 3:31 the template can't be read here",
      'fault 4:1 this block is never closed',
      expect.stringMatching(/^fault 4:12 unknown partial/),
    ]);
  });

  it('says how a tag of another template language is written', async () => {
    expect(
      await listFindings(
        '{{#if age >= 18}}a{{/if}} {{#if a == b}}c{{/if}}',
        '{{else}} {{/each}} {{}} {{ n + 1 }}',
        '{{#role "system"}}Be kind.{{/role}} {{each l}} {{json (role "user")}}',
      ),
    ).toEqual([
      "fault 1:11 `>=` isn't allowed in a tag: a template doesn't calculate, and only {{#ifEquals a b}} and {{#unlessEquals a b}} compare",
      expect.stringMatching(/^fault 1:35 `==` isn't allowed in a tag/),
      'fault 2:1 `{{else}}` is not inside a block',
      'fault 2:10 `{{/each}}` ends a block that was never opened',
      'fault 2:22 this tag is empty, or its last part has no value',
      expect.stringMatching(/^fault 2:30 `\+` isn't allowed in a tag/),
      'fault 3:4 the helper `role` is not called in this way: write {{role …}}',
      'fault 3:39 the helper `each` is not called in this way: write {{#each …}}',
      'fault 3:56 the helper `role` is not called in this way: write {{role …}}',
    ]);
  });

  it('reports what is merely unknown as a note', async () => {
    const notes = await listFindings(
      '---',
      'modle: echo',
      'a.b: 1',
      'tools: [x]',
      'config: {quality: high}',
      'input:',
      '  schema:',
      '    p?: string',
      '  default: {z: 1}',
      '  more: 1',
      'output: {format: xml}',
      '---',
      '{{media url=p}} {{@state.x}} {{../up}}{{media url="data:,"}}',
    );
    expect(notes).toEqual([
      'note 2:1 `modle` is not a key of the format and has no effect; did you mean model?',
      'note 3:1 `a.b` is kept in ext and has no effect here',
      'note 4:1 `tools` has no effect here: no tools are called',
      expect.stringMatching(/^note 5:10 the model `echo` ignores `quality`/),
      'note 8:5 `p` is a picture, and those are always required: the `?` has no effect',
      'note 9:13 the default `z` belongs to no input',
      'note 10:3 `more` has no effect: input takes schema and default',
      'note 11:18 the format `xml` is not checked, only json is',
      expect.stringMatching(/^note 13:19 `@state\.x` has no value: runs have no such variable/),
      expect.stringMatching(/^note 13:32 `\.\.\/up` leads out of the template/),
      expect.stringMatching(/^note 13:51 a run takes pictures from inputs of their own/),
    ]);
  });

  it.each(['{{shop} there', '{{shop', 'Hi {{shop}\n{{name}}'])(
    'finds the place of a tag that is never closed: %s',
    async template => {
      const column = template.indexOf('{{') + 1;
      expect(await listFindings(template)).toEqual([`fault 1:${column} this tag is never closed`]);
    },
  );

  it('finds that the line before the front matter is missing', async () => {
    expect(
      await listFindings('model: echo', 'input: {schema: {shop: string}}', '---', 'Hi {{shop}}'),
    ).toEqual(['fault 1:1 the line `---` before the front matter is missing: add it']);
    expect(await listFindings('Dear {{name}}', 'Note: it is late', '---', 'Ada')).toEqual([]);
  });

  it('says how an image input is declared', async () => {
    const findings = await listFindings(
      '---',
      'input: {schema: {photo: image}}',
      '---',
      '{{photo}}',
    );
    expect(findings[0]).toMatch(
      /^fault 2:25 `image` is not a type: make the field a string, and .*\{\{media url=<field>\}\}/u,
    );
    const declared = [
      '---',
      'model: echo',
      'input: {schema: {photo: string}}',
      '---',
      '{{media url=photo}}',
    ];
    expect(await listFindings(...declared)).toEqual([]);
  });

  it('refuses a prompt without a template, as a run does', async () => {
    expect(await listFindings('---', 'model: echo', '---')).toEqual([
      'fault 1:1 the prompt has no template: write one below the front matter',
    ]);
  });

  it('finds a field that is not declared, unless the schema is open', async () => {
    const source = (more: string) => [
      '---',
      'input:',
      '  schema:',
      '    a: string',
      more,
      '---',
      '{{a}}',
      ' {{b}}',
    ];

    expect(await listFindings(...source(''))).toEqual([
      'fault 8:4 `b` is not in input.schema: declare it there',
    ]);
    expect(
      await listFindings('---', 'input: { schema: { name: string } }', '---', '{{name}}{{nmae}}'),
    ).toEqual(['fault 4:11 `nmae` is not in input.schema: declare it there; did you mean name?']);
    expect(await listFindings(...source('    (*): any'))).toEqual([]);
  });

  it('finds defaults and schemas that only show when they are tried', async () => {
    expect(
      await listFindings(
        '---',
        'input:',
        '  schema:',
        '    a(array): integer',
        '  default: {a: [1, x]}',
        '---',
        '{{a}}',
      ),
    ).toEqual(['fault 5:13 the default of `a` does not match its schema at "/1": must be integer']);
  });

  it.each([
    { modality: 'text', image: false, input: 'topic', value: 'tides' },
    { modality: 'image', image: true, input: 'place', value: 'Oslo' },
  ])(
    'finds nothing wrong with what a new prompt for $modality begins with, and its tests fit it',
    async ({ modality, image, input, value }) => {
      const { prompt, test } = buildStarterPrompt('my-first_prompt', { image });
      expect(await checkPrompt(prompt, 'my-first_prompt.prompt', { models })).toEqual([]);

      const definition = parsePromptFile(prompt, 'my-first_prompt.prompt');
      const model = BUILT_IN_MODELS.find(entry => entry.model === definition.model);
      expect(definition.title).toBe('My first prompt');
      expect(model?.modality).toBe(modality);

      const { messages } = previewPrompt(definition, { inputs: { [input]: value } });
      expect(JSON.stringify(messages)).toContain(value);
      expect(test).toContain(`${input}: ${value}`);
    },
  );
});

describe('prompts on this machine', () => {
  let directory: string;
  let store: LocalStore;

  const write = async (name: string, ...lines: string[]): Promise<string> => {
    const file = path.join(directory, name);
    await mkdir(path.dirname(file), { recursive: true });
    await writeFile(file, lines.join('\n'));
    return file;
  };

  beforeEach(async () => {
    directory = createTemporaryDirectory();
    store = await openStore({ dataDir: path.join(directory, 'data') });
  });
  afterEach(async () => {
    await store.close();
  });

  it('are published with the partials that they use, which are part of the version', async () => {
    await write('_sign.prompt', 'Yours, {{name}}');
    await write('parts/_head.prompt', 'Dear {{> sign}}');
    const file = await write('mail.prompt', '{{> parts/head}}!');
    const first = await store.publish(file);

    expect(await store.publish(file)).toMatchObject({
      changed: false,
      promptVersionId: first.promptVersionId,
    });

    const definition = async () =>
      (await store.findDefinition(first.promptVersionId)) as PromptDefinition;
    expect(toPromptConfig(await definition())).toMatchObject({
      textInputs: { name: { required: true } },
    });

    await write('_sign.prompt', 'Bye, {{name}}');
    expect(await previewFromTexts(await definition(), { texts: { name: 'Ada' } })).toMatchObject({
      messages: [{ role: 'user', content: [{ text: 'Dear Yours, Ada!' }] }],
    });
    expect(await store.publish(file)).toMatchObject({ changed: true });
    expect(await definition()).toMatchObject({
      source: '{{> parts/head}}!',
      template: '{{> parts/head}}!',
      partials: { 'parts/head': 'Dear {{> sign}}', sign: 'Yours, {{name}}' },
    });
  });

  it('can be a partial, which is checked by itself and not published', async () => {
    const file = await write('_part.prompt', '{{anything}} {{shout x}}');
    expect(await checkPromptFile(file, { models, tasks: inProcessTasks })).toMatchObject([
      { severity: 'fault', line: 1, column: 16 },
    ]);
    await expect(store.publish(await write('_ok.prompt', '{{anything}}'))).rejects.toThrow(
      'run or publish a prompt that uses it',
    );
  });

  it('find no partials outside their directory', async () => {
    await write('_secret.prompt', 'secret');
    const file = await write('in/x.prompt', '{{> ../secret}}');
    await expect(readPromptFile(file)).rejects.toThrow(/unknown partial/);
  });

  it('report faults of a partial in the partial', async () => {
    const part = await write('_part.prompt', '', '{{#each}}{{/each}}');
    const file = await write('x.prompt', '{{> part}}');
    expect(await checkPromptFile(file, { models, tasks: inProcessTasks })).toMatchObject([
      { file: part, line: 2, column: 1, message: '`each` takes one value' },
    ]);
  });

  it('report partials that insert each other without end, unless a block can end it', async () => {
    const listFaults = async (): Promise<unknown[]> =>
      await checkPromptFile(path.join(directory, 'x.prompt'), { models, tasks: inProcessTasks });
    await write('x.prompt', '---', 'model: echo', '---', '{{> one}}{{> two}}');
    await write('_one.prompt', '{{> two}}');
    const two = await write('_two.prompt', 'a', ' {{> one}}');

    expect(await listFaults()).toMatchObject([
      {
        file: two,
        line: 2,
        column: 2,
        message: expect.stringContaining('`one` inserts itself without end'),
      },
    ]);

    await write('_two.prompt', '{{#if name}}{{> one}}{{/if}}');
    expect(await listFaults()).toEqual([]);

    await write('_two.prompt', '{{> one}}');
    await write('x.prompt', '---', 'model: echo', '---', '{{#*inline "one"}}x{{/inline}}{{> two}}');

    expect(await listFaults()).toEqual([]);
  });

  it('are not published without a template, nor with a fault that only shows when it is tried', async () => {
    await expect(
      store.publish(await write('a.prompt', '---', 'model: echo', '---')),
    ).rejects.toThrow('has no template');
    const lines = [
      '---',
      'input:',
      '  schema:',
      '    a(array): integer',
      '  default: {a: [x]}',
      '---',
      '{{a}}',
    ];
    await expect(store.publish(await write('b.prompt', ...lines))).rejects.toThrow(
      /b\.prompt:5: the default/,
    );
  });
});

describe('checking every part of a prompt', () => {
  it('finds undeclared inputs although the front matter has faults', async () => {
    expect(
      await listFindings(
        '---',
        'title: [x]',
        'input:',
        '  schema:',
        '    a: strin',
        '    b: string',
        '---',
        '{{a}}{{b}}{{c}}',
      ),
    ).toEqual([
      'fault 2:8 title must be text',
      expect.stringMatching(/^fault 5:8 `strin` is not a type/),
      'fault 8:13 `c` is not in input.schema: declare it there',
    ]);
  });

  it('finds a fault of YAML, and no other that follows from it', async () => {
    const lines = Array.from({ length: 20 }, (_, n) => `  k${n}: 'a'b'`);
    expect(await listFindings('---', 'title: x', 'config:', ...lines, '---', '{{a}}')).toEqual([
      expect.stringMatching(/^fault 4:\d+ this is not YAML/),
    ]);
  });

  it('says how a brace is written after a tag', async () => {
    const findings = await listFindings('{"n": {{n}}}', '{"m": {{m~}} }');
    expect(findings).toEqual([
      'fault 1:7 `}}}` ends only `{{{`: before a literal brace, write {{name~}} }',
    ]);
  });

  it('notes names in single braces', async () => {
    const head = ['---', 'model: echo', 'input:', '  schema:', '    city: string', '---'];
    expect(await listFindings(...head, 'Hi, {city}!', '{city} {town}')).toEqual([
      'note 7:5 `{city}` is sent unchanged: write {{city}} for the input',
    ]);
    expect(
      await listFindings('---', 'model: echo', '---', 'Hi {city}, {"a": 1} \\frac{b} ${c}'),
    ).toEqual(['note 4:4 `{city}` is sent unchanged: write {{city}} for the input']);
    expect(await listFindings(...head, '{{city}} is written {city}')).toEqual([]);
  });

  it('notes inputs that the template does not use', async () => {
    const head = [
      '---',
      'model: echo',
      'input:',
      '  schema:',
      '    city: string',
      '    mood?: string',
      '---',
    ];
    expect(await listFindings(...head, '{{city}}')).toEqual([
      'note 6:5 the template does not use the input `mood`',
    ]);
    expect(await listFindings(...head, '{{#if city}}{{json this}}{{/if}}')).toEqual([]);
    expect(await listFindings(...head, '{{#each @root}}{{this}}{{/each}}')).toEqual([]);
  });

  it('finds tags and filters of Jinja', async () => {
    expect(await listFindings('---', 'model: echo', '---', 'Hi', '{% if a %}x{% endif %}')).toEqual(
      [expect.stringMatching(/^note 5:1 this looks like Jinja/)],
    );
    expect(await listFindings('{{ a | upper }}')).toEqual([
      "fault 1:6 `|` is a filter of Jinja, which prompt files don't have",
    ]);
  });

  it("finds tags of Go's templates", async () => {
    expect(await listFindings('{{.Query}} {{name}} {{ .b }}')).toEqual([
      "fault 1:3 `{{.Query}}` is a tag of Go's templates, which prompt files don't have: write {{Query}}",
      expect.stringContaining('`{{ .b }}`'),
    ]);
  });
});

it('finds the faults that follow one in `strict`', async () => {
  const frontMatter = ['output:', '  schema: {a: string}', '  named: {strict: {a: 1, a: 2}}'];
  const findings = await listFindings('---', ...frontMatter, '---', '{{#if}}');
  expect(findings).toEqual([
    'fault 4:26 `a` appears twice in this map',
    'fault 6:1 this block is never closed',
  ]);
});
