import { mkdir, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { PROVIDER_SETTINGS } from '../../../src/models/model-entry.ts';
import { convertForeign } from '../../../src/prompts/foreign/convert.ts';
import type { Converted } from '../../../src/prompts/foreign/converted.ts';
import { parsePromptFile } from '../../../src/prompts/parse/parse-prompt.ts';
import { previewPrompt } from '../../../src/prompts/render/preview-prompt.ts';
import { temporaryDirectory } from '../../support/context.ts';
import { hasLinks } from '../../support/system.ts';

interface Options {
  readonly files?: Readonly<Record<string, string>>;
  readonly prompt?: number;
  readonly allowOutside?: boolean;
  readonly isForTest?: boolean;
  readonly allowCommands?: boolean;
}

async function convert(config: string, { files = {}, ...options }: Options = {}): Promise<Converted> {
  const directory = path.join(temporaryDirectory(), 'in');
  await mkdir(path.join(directory, 'sub'), { recursive: true });
  await writeFile(path.join(directory, '..', 'outside.txt'), 'secret {{a}}');
  await writeFile(path.join(directory, 'wide.txt'), '\uFEFFa', 'utf16le');
  if (hasLinks) await symlink('../outside.txt', path.join(directory, 'link.txt'));
  for (const [name, text] of Object.entries(files)) await writeFile(path.join(directory, name), text);
  return await convertForeign(config, 'in/promptfooconfig.yaml', {
    directory,
    settings: [...PROVIDER_SETTINGS],
    ...options,
  });
}

/** Expected beside a schema: promptfoo takes no JSON in a code fence. */
const UNFENCED = { not: { matches: '^\\s*```' } };

interface Case {
  readonly name: string;
  readonly inputs?: Record<string, string>;
  readonly expect?: unknown[];
}

const parseCases = ({ test }: Converted): Case[] =>
  ((test ?? { cases: [] }) as unknown as { cases: Case[] }).cases;
const noteTexts = ({ notes }: Converted): string[] =>
  notes.map(({ file, line, message }) => `${file}:${line}: ${message}`);
const shown = ({ prompt }: Converted, inputs: Record<string, string> = {}): unknown =>
  previewPrompt(parsePromptFile(prompt, 'x.prompt'), { inputs }).messages.map(({ role, content }) => [
    role,
    content.map(part => ('text' in part ? part.text : '')).join(''),
  ]);

const PROVIDERS = 'providers: [openai:gpt-4o]\n';

describe('prompts of promptfoo', () => {
  it.each<[string, string, Options, unknown]>([
    ['inline', 'prompts: ["Say {{a}} {{ b }} {\\"c\\": {{a}}}"]', {}, [['user', 'Say A B {"c": A}']]],
    [
      'a chat as JSON',
      `prompts: ['[{"role": "system", "content": "S {{a}}"}, {"role": "User", "content": "{{b}}"}]']`,
      {},
      [
        ['system', 'S A'],
        ['user', 'B'],
      ],
    ],
    ['a path', 'prompts: p.txt', { files: { 'p.txt': ' From {{a}}\n' } }, [['user', 'From A']]],
    [
      'a pattern, which matches names that macOS lists with separate accents',
      'prompts: file://gr\u00fc*.txt',
      { files: { 'gru\u0308n.txt': 'From {{a}}\n' } },
      [['user', 'From A']],
    ],
    [
      'the second of a file',
      'prompts: [{raw: one}, {id: "file://p.txt", label: x}]',
      { files: { 'p.txt': 'two\n---\n\nthree {{b}}\n' }, prompt: 3 },
      [['user', 'three B']],
    ],
    [
      'a chat in a file',
      'prompts: file://sub/p.yaml',
      { files: { 'sub/p.yaml': '- role: assistant\n  content: "{{a}}"\n' } },
      [['model', 'A']],
    ],
  ])('as %s', async (_, prompts, options, messages) => {
    expect(shown(await convert(`${prompts}\n${PROVIDERS}`, options), { a: 'A', b: 'B' })).toEqual(messages);
  });

  it('are sent with the blanks at their ends', async () => {
    const blanks = async (prompt: string): Promise<string> => {
      const text = JSON.stringify({ prompts: [prompt], providers: ['echo'], tests: [{ vars: { q: '' } }] });
      return (await convert(text, { isForTest: true })).prompt.split('---\n')[2] ?? '';
    };
    expect(await blanks('a {{q}}\n\n')).toBe('a {{q}}\n\n{{log ""}}\n');
    expect(await blanks(' b')).toBe('{{log ""}} b\n');
    expect(await blanks(' ')).toBe('{{log ""}} {{log ""}}\n');
    expect(await blanks('c')).toBe('c\n');
  });

  it('are read from a file as promptfoo reads it', async () => {
    const read = async (file: string, content: string, prompt = 1): Promise<string | undefined> => {
      const text = `{"prompts": ["file://${file}"], "providers": ["echo"], "tests": [{"vars": {"q": ""}}]}`;
      const converted = await convert(text, { isForTest: true, files: { [file]: content }, prompt });
      const [fault] = converted.notes.filter(({ isHarmless }) => !isHarmless);
      return fault?.message ?? converted.template?.text ?? converted.prompt.split('---\n')[2];
    };
    expect(await read('p.md', ' a {{q}}\n\n')).toBe('{{log ""}} a {{q}}\n\n{{log ""}}\n');
    expect(await read('p.txt', 'a\n  ---\nb\n', 2)).toBe('b\n');
    expect(await read('p.jsonl', '"a"\n\n"b"\n', 2)).toBe('"b"\n');
    expect(await read('p.yaml', 'text: [hi]')).toBe('{\n  "text": [\n    "hi"\n  ]\n}\n');
    expect(await read('p.json', '{"text": "{{q}}"}')).toBe('{"text":"{{q}}"}');
    expect(await read('p.csv', 'prompt,label\na,b\n')).toBe('a table of prompts has no equivalent');
  });

  it('are the same if git gave every file the line ends of Windows', async () => {
    const config = `prompts: [file://p.txt, file://p.jsonl]
${PROVIDERS}tests:
  - file://t.csv
  - vars: { a: file://a.txt }
    assert: [{ type: equals, value: file://a.txt }]
`;
    const files = {
      'p.txt': 'one {{a}}\nline\n---\ntwo {{a}}\nlines\n',
      'p.jsonl': '[{"role": "user", "content": "{{a}}"}]\n"b {{a}}"\n',
      't.csv': 'a,__expected\n"x\ny",contains:x\n',
      'a.txt': 'green\ntea\n',
    };
    const withCrlf = (text: string): string => text.replaceAll('\n', '\r\n');
    const onWindows = Object.fromEntries(Object.entries(files).map(([name, text]) => [name, withCrlf(text)]));
    for (const prompt of [1, 2, 3, 4]) {
      const converted = await convert(config, { files, prompt });
      expect(await convert(withCrlf(config), { files: onWindows, prompt })).toEqual(converted);
      expect(shown(converted, { a: 'A' })).toHaveLength(1);
    }
  });

  it('are asked once if texts or names of files repeat, as promptfoo asks them', async () => {
    const files = { 'p.txt': 'a {{b}}' };
    const text =
      'prompts: ["a {{b}}", "a {{b}}", {raw: "a {{b}}", label: l}, {raw: "a {{b}}", label: l}, file://p.txt, file://./p.txt]\n';
    expect((await convert(text + PROVIDERS, { files })).prompts).toBe(4);
  });

  it('may have blocks that test a variable, whose lines stay as promptfoo leaves them', async () => {
    const prompt = [
      'R:',
      '{% if traits %}T {{traits}}',
      '',
      '{% else %}E{% endif %}',
      '{% if source %}',
      '## {{source}}',
      '{% endif %}',
      'A {# note #}{not}',
      '  {%- if not traits -%}',
      `  N {% if mode == 'x' %}X{% elif mode == "y" %}Y{%else%}Z{% endif %}{% elif source != 'src' %}Q{% endif -%}`,
      ' end }',
    ].join('\n');
    const tests = '[{vars: {traits: T1, source: src, mode: x}}]';
    const text = `prompts: [${JSON.stringify(prompt)}]\n${PROVIDERS}tests: ${tests}\n`;
    const converted = await convert(text, { isForTest: true });
    expect(noteTexts(converted)).toEqual([]);
    const sent = (traits: string, source: string, mode: string): unknown =>
      shown(converted, { traits, source, mode });
    expect(sent('', 'src', 'x')).toEqual([['user', 'R:\nE\n\n## src\n\nA {not}N Xend }']]);
    expect(sent('T1', '', 'y')).toEqual([['user', 'R:\nT T1\n\n\n\nA {not}Qend }']]);
    expect(sent('', '5', '')).toEqual([['user', 'R:\nE\n\n## 5\n\nA {not}N Zend }']]);
  });

  it('may write variables as the JSON of a chat', async () => {
    const chat = `prompts: ['[{"role": "system", "content": {{ s | dump }}}, {"role": "user", "content": {{u|dump|safe}}}]']`;
    const text = `${chat}\n${PROVIDERS}tests: [{vars: {s: S, u: U}}]\n`;
    const converted = await convert(text, { isForTest: true });
    expect([noteTexts(converted), shown(converted, { s: 'a "b"\n', u: 'U' })]).toEqual([
      [],
      [
        ['system', 'a "b"\n'],
        ['user', 'U'],
      ],
    ]);
  });

  it.each([
    ['{% if a %}x{% endif %}', '[{vars: {a: false}}]'],
    ['{% if a == "true" %}x{% endif %}', '[{vars: {a: true}}]'],
    ['{% if a == "5.0" %}x{% endif %}', '[{vars: {a: 5}}]'],
    ['{% if a != "" %}x{% endif %}', '[{vars: {a: x}}, {vars: {b: x}}]'],
    ['{% if true %}x{% endif %}', '[{vars: {a: x}}]'],
    ['{% for b in a %}x{% endfor %}', '[{vars: {a: x}}]'],
    ['[{"role": "user", "content": {{ a | dump }}}]', '[{vars: {a: 5}}]'],
    ['[{"role": "user", "content": {{ a | dump }}}]', '[{vars: {b: x}}]'],
    ['{{a}}', '[{vars: {a: "{{ b | upper }}", b: B}}, {vars: {a: x}}]'],
    ['{{a}}', '[{vars: {a: "{% for i in b %}{{ i }}{% endfor %}", b: B}}]'],
    ['{{a}}', '[{vars: {a: "{% raw %}{{ b | upper }}{% endraw %}", b: B}}]'],
    ['{{a}}', '[{vars: {a: x}, options: {storeOutputAs: c}}]'],
  ])("are templates if texts can't tell what promptfoo sends: %s with %s", async (prompt, tests) => {
    const text = `prompts: ['${prompt}']\n${PROVIDERS}tests: ${tests}\n`;
    const converted = await convert(text, { isForTest: true });
    expect([noteTexts(converted), converted.template?.text]).toEqual([[], prompt]);
  });

  it('name the environment in a template', async () => {
    const text = `prompts: ['{{ env.NAME | upper }}']\n${PROVIDERS}tests: [{vars: {a: x}}]\n`;
    expect(noteTexts(await convert(text, { isForTest: true }))).toEqual([
      expect.stringMatching(/^in\/promptfooconfig\.yaml:1: only `\{\{name\}\}`/),
    ]);
  });

  it('may compare values that promptfoo compares with the same result', async () => {
    const prompt = `'{% if a == "5" %}five{% elif a == "true" %}true{% else %}else{% endif %}'`;
    const text = `prompts: [${prompt}]\n${PROVIDERS}tests: [{vars: {a: 5}}, {vars: {a: "true"}}, {vars: {b: x}}]\n`;
    expect(noteTexts(await convert(text, { isForTest: true }))).toEqual([]);
  });

  it.each([
    ['"system: be kind\\nuser: {{a}}"', 'Hi', 'anthropic:messages:claude-sonnet-4-6', 1],
    ['"About:\\n{{a}}"', '"Hi\\nassistant: Hello"', 'anthropic:claude-sonnet-4-6', 1],
    ['"Say {{a}}"', '"user: Hi"', 'anthropic:claude-sonnet-4-6', 0],
    ['"user: {{a}}"', 'Hi', 'openai:gpt-4o', 0],
    [`'[{"role": "user", "content": "Say\\nuser: {{a}}"}]'`, 'Hi', 'anthropic:claude-sonnet-4-6', 0],
  ])(
    'are named if promptfoo makes messages of their lines for Claude: %s with %s for %s',
    async (prompt, a, id, count) => {
      const text = `prompts: [${prompt}]\nproviders: ['${id}']\ntests: [{ vars: { a: ${a} } }]\n`;
      const note =
        'in/promptfooconfig.yaml:1: a line such as `user: …` in a text for Claude has no equivalent';
      expect(noteTexts(await convert(text, { isForTest: true }))).toEqual(count === 1 ? [note] : []);
    },
  );

  it('are named if there are others', async () => {
    expect(noteTexts(await convert(`prompts: [a, b]\n${PROVIDERS}`))).toEqual([
      'in/promptfooconfig.yaml:1: there are 2 prompts, and this is the first: --prompt <n> converts another',
    ]);
  });

  it.each<[string, Options, RegExp]>([
    [
      'prompts: [file://p.py]',
      { files: { 'p.py': '' } },
      /^in\/promptfooconfig\.yaml:1: the prompt .* is a program/,
    ],
    ['prompts: [file://p.py:fn]', {}, /is a program/],
    ['prompts:\n  - "a {{ b | upper }}"', {}, /^in\/promptfooconfig\.yaml:2: only `\{\{name\}\}` and/],
    ['prompts: ["{% if a %}x{% endif %}"]', {}, /only `\{\{name\}\}`/],
    ['prompts: file://p.txt', { files: { 'p.txt': 'one\n{{ a.b }}' } }, /^in[\\/]p\.txt:2: only/],
    ['prompts: [a]', { prompt: 2 }, /there are 1 prompts, and no prompt 2/],
    ...(hasLinks
      ? ([
          [
            'prompts: file://link.txt',
            {},
            /^in\/promptfooconfig\.yaml:1: file:\/\/link\.txt lies outside the folder/,
          ],
        ] as [string, Options, RegExp][])
      : []),
    ['prompts: file://../outside.txt', {}, /lies outside the folder/],
    ['prompts: file://../*.none', {}, /lies outside the folder/],
    ['prompts: file://none.txt', {}, /doesn't exist/],
    ['prompts: file://wide.txt', {}, /file:\/\/wide\.txt is UTF-16 text/],
    ['prompts: file://sub', {}, /is not a file/],
  ])('cannot be expressed: %s', async (prompts, options, message) =>
    expect(convert(`${prompts}\n${PROVIDERS}`, options)).rejects.toThrow(message),
  );

  it.runIf(hasLinks)('may lie outside if that is allowed', async () => {
    const config = `prompts: file://link.txt\n${PROVIDERS}`;
    expect(shown(await convert(config, { allowOutside: true }), { a: '1' })).toEqual([['user', 'secret 1']]);
  });
});

const ALL_SETTINGS =
  'temperature: 0.3, top_p: 0.5, top_k: 5, max_tokens: 7, max_completion_tokens: 8, num_predict: 9, seed: 3, random_seed: 4, stop: [x], stop_sequences: [y], frequency_penalty: 0.1, presence_penalty: 0.2, reasoning_effort: low, unknown: 1';
const SAMPLING = {
  temperature: 0.3,
  topP: 0.5,
  stopSequences: ['x'],
  frequencyPenalty: 0.1,
  presencePenalty: 0.2,
};

describe('providers of promptfoo', () => {
  it.each([
    ['openai:chat:gpt-4o', true],
    ['openrouter:meta/llama', true],
    ['anthropic:messages:claude-sonnet-4-6', true],
    ['ollama:chat:llama3', true],
    ['google:gemini-2.5-flash', false],
  ])('lose a `system` of the config of %s only if promptfoo does not send it', async (id, isIgnored) => {
    const provider = `{ id: '${id}', config: { system: Be terse. } }`;
    const text = `prompts: [a]\nproviders: [${provider}]\ntests: [{ vars: {} }]\n`;
    const converted = await convert(text, { isForTest: true });
    expect(noteTexts(converted).join()).toMatch(
      isIgnored ? /promptfoo ignores/ : /`system`.* has no equivalent/,
    );
  });

  it('of GitHub Models are those of their publishers, and of OpenAI without a publisher', async () => {
    const ids = ['gpt-4o-mini', 'o3', 'openai/gpt-4.1', 'meta/llama-3'].map(id => `github:${id}`);
    const converted = await convert(
      `prompts: [a]\nproviders: ${JSON.stringify(ids)}\ntests: [{ vars: {} }]\n`,
    );
    const { models } = converted.test as unknown as { models: readonly { model: string }[] };
    const names = ['openai/gpt-4o-mini', 'openai/o3', 'openai/gpt-4.1', 'meta/llama-3'];
    expect(models.map(({ model }) => model)).toEqual(names);
  });

  it('are models by our names, the first with its config', async () => {
    const converted = await convert(`prompts: [a]
providers:
  - id: openai:chat:gpt-4o
    label: x
    delay: 5
    config:
      temperature: 0
      max_tokens: 9
      stop: END
      apiKey: sk-secret
      response_format: { type: json_schema, json_schema: { name: n, schema: { type: array } } }
  - anthropic:messages:claude-sonnet-4
  - ollama:chat:llama3.2: { config: { temperature: 1 } }
  - python:own.py
tests: [{ vars: {} }]
`);
    expect(parsePromptFile(converted.prompt, 'x.prompt')).toMatchObject({
      model: 'openai/gpt-4o',
      config: { temperature: 0, maxOutputTokens: 9, stopSequences: ['END'] },
      output: { format: 'json', schema: { type: 'array' } },
    });
    expect(converted.test).toMatchObject({
      models: [
        { model: 'openai/gpt-4o', config: { temperature: 0, maxOutputTokens: 9, stopSequences: ['END'] } },
        { model: 'anthropic/claude-sonnet-4', config: { temperature: 0, maxOutputTokens: 1024 } },
        { model: 'ollama/llama3.2', config: { temperature: 1 } },
      ],
    });
    expect(noteTexts(converted)).toEqual([
      "in/promptfooconfig.yaml:10: `apiKey` of a provider's config has no equivalent",
      "in/promptfooconfig.yaml:14: the file of the provider `python:own.py` doesn't exist",
      'in/promptfooconfig.yaml:12: an answer format other than that of the first provider has no equivalent',
      'in/promptfooconfig.yaml:13: an answer format other than that of the first provider has no equivalent',
    ]);
    expect(JSON.stringify(converted)).not.toContain('sk-secret');
  });

  it('are those that are asked with the prompt, and a list of prompts is named', async () => {
    const converted = await convert(`prompts: [{ id: one, raw: a }, { id: two, raw: b }]
providers:
  - { id: 'openai:gpt-4o', prompts: [two] }
  - anthropic:messages:claude-sonnet-4
tests: [{ vars: {} }]
`);
    expect(converted.test).toMatchObject({ models: ['anthropic/claude-sonnet-4'] });
    expect(noteTexts(converted)).toContain(
      'in/promptfooconfig.yaml:3: `prompts` of the provider `openai:gpt-4o` has no equivalent: the test file names the models that are asked with its prompt',
    );
  });

  it('are asked at the addresses that promptfoo uses, and only keys that it sends count', async () => {
    const converted = await convert(
      `prompts: [a]
providers:
  - { id: 'huggingface:chat:org/m:novita', config: { max_new_tokens: 5 } }
  - { id: 'perplexity:sonar', config: { stream: true } }
  - { id: 'openrouter:org/m', config: { apiBaseUrl: 'https://openrouter.ai/api/v1' } }
  - { id: 'hf:text-generation:org/m', config: { max_new_tokens: 5, other: 1 } }
  - { id: 'ollama:chat:m', config: { options: { temperature: 0 } } }
  - { id: 'azure:chat:m', config: { apiHost: ours.openai.azure.com, apiVersion: '2024-10-21' } }
  - { id: 'openai:responses:m', config: { tools: [] } }
  - { id: 'anthropic:messages:m', config: { apiBaseUrl: 'https://proxy.example' } }
  - { id: 'azure:chat:m', config: { apiBaseUrl: 'https://gate.example/team/' } }
  - { id: 'google:m', config: { other: 1, generationConfig: { topP: 1, thinkingConfig: { thinkingBudget: 0 } } } }
  - { id: 'bedrock:meta.llama3-8b', config: { max_gen_len: 5, profile: x } }
  - { id: 'ollama:chat:m', config: { format: json } }
  - { id: 'deepseek:deepseek-chat', config: { apiBaseUrl: 'https://other.example' } }
tests: one.yaml
`,
      { files: { 'one.yaml': 'vars: {}\ndescription: one' }, isForTest: true, allowCommands: true },
    );
    const { models } = converted.test as unknown as { models: { model: string; config: unknown }[] };
    expect(parseCases(converted)).toEqual([{ name: 'one' }]);
    expect(models.at(-1)?.model).toBe('deepseek/deepseek-chat');
    expect(models.slice(0, 6)).toEqual([
      { model: 'huggingface/org/m:novita', config: { temperature: 0, maxOutputTokens: 5 } },
      { model: 'perplexity/sonar', config: { temperature: 0, maxOutputTokens: 1024 } },
      { model: 'openrouter/org/m', config: { temperature: 0, maxOutputTokens: 1024 } },
      { model: 'hf-text-generation-org-m-address', config: {} },
      { model: 'ollama/m', config: {} },
      { model: 'ours-openai-azure-com/m', config: { temperature: 0, maxOutputTokens: 1024 } },
    ]);
    expect(parse(converted.models ?? '')).toEqual({
      providers: {
        huggingface: { baseUrl: 'https://router.huggingface.co/v1', engine: 'openai', apiKeyEnv: 'HF_TOKEN' },
        perplexity: {
          baseUrl: 'https://api.perplexity.ai',
          engine: 'openai',
          apiKeyEnv: 'PERPLEXITY_API_KEY',
        },
        'ours-openai-azure-com': {
          baseUrl: 'https://ours.openai.azure.com/openai/v1',
          engine: 'azure',
          apiKeyEnv: 'AZURE_API_KEY',
        },
        'gate-example': {
          baseUrl: 'https://gate.example/team/openai/v1',
          engine: 'azure',
          apiKeyEnv: 'AZURE_API_KEY',
        },
      },
      models: [
        {
          model: 'hf-text-generation-org-m-address',
          modality: 'text',
          address: 'https://router.huggingface.co/hf-inference/models/org/m',
          headers: { authorization: 'Bearer ${env.HF_TOKEN}' },
          body: { inputs: '${prompt}', parameters: { return_full_text: false, max_new_tokens: 5 } },
          output: 'generated_text || [0].generated_text',
        },
      ],
    });
    expect(converted.notes.filter(({ isHarmless }) => !isHarmless).map(({ message }) => message)).toEqual([
      "`tools` of a provider's config has no equivalent",
      "`apiBaseUrl` of a provider's config has no equivalent",
      "`thinkingConfig` of a provider's config has no equivalent",
      "`max_gen_len` of a provider's config has no equivalent",
    ]);
  });

  it('send only settings that promptfoo sends to a model, and its defaults', async () => {
    const { temperature: _, ...unheated } = SAMPLING;
    const converted = await convert(
      `prompts: [a]
providers:
  - { id: 'openai:gpt-5-mini', config: { max_tokens: 9, max_completion_tokens: 99 } }
  - { id: 'openai:chat:gpt-4o', config: { max_completion_tokens: 99 } }
  - { id: 'openai:responses:gpt-4o', config: { max_tokens: 9, temperature: 1 } }
  - { id: 'azure:chat:my-gpt-5', config: { temperature: 0, isReasoningModel: true } }
  - { id: 'azure:responses:o3', config: { max_output_tokens: 9 } }
  - { id: 'google:gemini-2.5-flash', config: { generationConfig: { thinkingConfig: { thinkingBudget: 0 } } } }
  - { id: 'google:gemini-3-flash', config: { top_p: 1, topK: 2, thinkingConfig: { thinkingBudget: 0 } } }
  - { id: 'google:gemini-2.5-flash-lite', config: { generationConfig: { thinkingConfig: { thinkingBudget: -1 } } } }
  - { id: 'anthropic:messages:claude-sonnet-4-5', config: { top_p: 0.4, stop: [x], maxOutputTokens: 5 } }
  - { id: 'openai:o3', config: { temperature: 1, reasoning: { effort: low } } }
  - { id: 'openai:gpt-5-chat-latest', config: { temperature: 1, reasoning: { effort: low } } }
  - { id: 'openai:gpt-4.1', config: { maxTokens: 9, reasoning_effort: low } }
  - { id: 'openai:responses:codex-mini-latest', config: { stop: [x] } }
  - { id: 'azure:responses:gpt-4o', config: { max_tokens: 9 } }
  - { id: 'vertex:gemini-3-pro', config: { generationConfig: { thinkingConfig: { thinkingLevel: LOW } } } }
  - { id: 'azure:chat:prod', config: { isReasoningModel: true } }
  - { id: 'openai:chat:qwen3', config: { passthrough: { reasoning_effort: none, temperature: 1, x: 1, n: 2 }, temperature: 2 } }
  - { id: 'ollama:llama3', config: { format: json, system: x, passthrough: { format: json } } }
${[
  'mistral:small',
  'ollama:chat:llama3',
  'groq:llama-3',
  'groq:openai/gpt-oss-20b',
  'xai:grok-3-mini',
  'xai:grok-4',
  'openrouter:openai/o3',
  'deepseek:deepseek-reasoner',
]
  .map(id => `  - { id: '${id}', config: { ${ALL_SETTINGS} } }\n  - '${id}'`)
  .join('\n')}
tests: [{ vars: {} }]
`,
      { isForTest: true, allowCommands: true },
    );
    expect((converted.test as unknown as { models: unknown[] }).models).toEqual([
      { model: 'openai/gpt-5-mini', config: { maxOutputTokens: 99 } },
      { model: 'openai/gpt-4o', config: { temperature: 0, maxOutputTokens: 1024 } },
      { model: 'openai/gpt-4o', config: { temperature: 1, maxOutputTokens: 1024 } },
      { model: 'azure/my-gpt-5', config: { reasoningEffort: 'medium', maxOutputTokens: 1024 } },
      { model: 'azure/o3', config: { maxOutputTokens: 9 } },
      { model: 'googleai/gemini-2.5-flash', config: { reasoningEffort: 'none' } },
      { model: 'googleai/gemini-3-flash', config: { topK: 2 } },
      { model: 'googleai/gemini-2.5-flash-lite', config: {} },
      { model: 'anthropic/claude-sonnet-4-5', config: { maxOutputTokens: 1024, topP: 0.4 } },
      { model: 'openai/o3', config: { reasoningEffort: 'low' } },
      { model: 'openai/gpt-5-chat-latest', config: {} },
      { model: 'openai/gpt-4.1', config: { temperature: 0, maxOutputTokens: 1024 } },
      { model: 'openai/codex-mini-latest', config: {} },
      { model: 'azure/gpt-4o', config: { temperature: 0, maxOutputTokens: 1024 } },
      { model: 'vertexai/gemini-3-pro', config: { reasoningEffort: 'low' } },
      { model: 'azure/prod', config: { temperature: 0, maxOutputTokens: 1024 } },
      {
        model: 'openai/qwen3',
        config: { temperature: 1, maxOutputTokens: 1024, reasoningEffort: 'none', x: 1 },
      },
      {
        model: 'mistral/small',
        config: { ...SAMPLING, maxOutputTokens: 7, seed: 4, reasoningEffort: 'low' },
      },
      { model: 'mistral/small', config: { topP: 1, maxOutputTokens: 1024 } },
      { model: 'ollama/llama3', config: { ...SAMPLING, maxOutputTokens: 9, seed: 3, topK: 5 } },
      { model: 'ollama/llama3', config: {} },
      { model: 'groq/llama-3', config: { ...SAMPLING, maxOutputTokens: 7, seed: 3 } },
      { model: 'groq/llama-3', config: { temperature: 0, maxOutputTokens: 1024 } },
      {
        model: 'groq/openai/gpt-oss-20b',
        config: { ...SAMPLING, maxOutputTokens: 8, seed: 3, reasoningEffort: 'low' },
      },
      { model: 'groq/openai/gpt-oss-20b', config: { temperature: 0 } },
      {
        model: 'xai/grok-3-mini',
        config: { ...SAMPLING, maxOutputTokens: 8, seed: 3, reasoningEffort: 'low' },
      },
      { model: 'xai/grok-3-mini', config: { temperature: 0 } },
      { model: 'xai/grok-4', config: { temperature: 0.3, topP: 0.5, maxOutputTokens: 8, seed: 3 } },
      { model: 'xai/grok-4', config: { temperature: 0 } },
      {
        model: 'openrouter/openai/o3',
        config: { ...unheated, maxOutputTokens: 8, seed: 3, reasoningEffort: 'low' },
      },
      { model: 'openrouter/openai/o3', config: {} },
      { model: 'deepseek/deepseek-reasoner', config: { ...SAMPLING, maxOutputTokens: 7, seed: 3 } },
      { model: 'deepseek/deepseek-reasoner', config: { temperature: 0, maxOutputTokens: 1024 } },
    ]);
    expect(converted.notes.filter(({ isHarmless }) => !isHarmless).map(({ message }) => message)).toEqual([
      "`thinkingConfig` of a provider's config has no equivalent",
      "`isReasoningModel` of a provider's config has no equivalent",
      "`n` of a provider's config has no equivalent",
      'an answer format other than that of the first provider has no equivalent',
    ]);
  });

  it('send their tools, in the form of Claude too', async () => {
    const parameters = { type: 'object', properties: { city: { type: 'string' } } };
    const tools = [{ type: 'function', function: { name: 'look_up', parameters } }];
    const converted = await convert(
      `prompts: [a]
providers:
  - { id: 'openai:m', config: { tools: 'file://tools.json', tool_choice: required } }
  - { id: 'anthropic:messages:claude-sonnet-4-5', config: { tools: ['file://tools.json'], tool_choice: required } }
${['xai:grok-3', 'mistral:m', 'togetherai:m', 'fireworks:m', 'cerebras:m'].map(id => `  - { id: '${id}', config: { tools: 'file://tools.json' } }\n`).join('')}  - { id: 'openai:n', config: { tools: ${JSON.stringify([{ type: 'web_search' }])} } }
  - { id: 'openai:o', config: { tools: 'file://tools.py:get' } }
  - { id: 'google:gemini-2.5-flash', config: { tools: 'file://tools.json' } }
tests: [{ vars: {} }]
`,
      { files: { 'tools.json': JSON.stringify(tools) }, isForTest: true },
    );
    const { models } = converted.test as unknown as { models: { config: object }[] };
    expect(models.slice(0, 2).map(({ config }) => config)).toEqual([
      { temperature: 0, maxOutputTokens: 1024, tools, tool_choice: 'required' },
      {
        temperature: 0,
        maxOutputTokens: 1024,
        tools: [{ name: 'look_up', input_schema: parameters }],
        tool_choice: { type: 'any' },
      },
    ]);
    expect(models.slice(2, 7).every(({ config }) => 'tools' in config)).toBe(true);
    expect(noteTexts(converted)).toEqual(
      [10, 11, 12].map(
        line => `in/promptfooconfig.yaml:${line}: \`tools\` of a provider's config has no equivalent`,
      ),
    );
  });

  it.each([
    ['{ Content-Type: application/json, X-Title: docs }', []],
    ['{ Content-Type: text/plain }', ["2: `headers` of a provider's config has no equivalent"]],
    ['{ X-Team: docs }', ["2: `headers` of a provider's config has no equivalent"]],
  ])('may name headers that are sent anyway: %s', async (headers, notes) => {
    const text = `prompts: [a]\nproviders: [{ id: 'google:gemini-2.5-flash', config: { headers: ${headers} } }]\ntests: [{ vars: {} }]\n`;
    const converted = await convert(text, { isForTest: true });
    expect(noteTexts(converted)).toEqual(notes.map(note => `in/promptfooconfig.yaml:${note}`));
  });
});

describe('tests of promptfoo', () => {
  const head = `prompts: ["{{a}} {{b}}"]\n${PROVIDERS}`;

  it('are cases with every input, variables in variables filled in', async () => {
    const converted = await convert(
      `${head}defaultTest:
  vars: { b: "B of {{a}}" }
  assert: [{ type: contains, value: "{{c}}!" }]
tests:
  - description: first {{a}}
    vars: { a: 1.50, c: yes }
  - vars: { a: file://t.txt, b: file://y.yaml, c: "" }
  - vars: { a: [x, y], b: [1, 2] }
  - vars: { a: "@at", b: { k: 1 } }
`,
      { files: { 't.txt': '\n text \n', 'y.yaml': 'k: [1]\n' } },
    );
    expect(parseCases(converted)).toEqual([
      { name: 'first 1.5', inputs: { a: '1.5', b: 'B of 1.5' }, expect: [{ contains: 'yes!' }] },
      { name: 'case 2', inputs: { a: 'text', b: '{"k":[1]}' }, expect: [{ contains: '!' }] },
      { name: 'case 3 (1)', inputs: { a: 'x', b: '[1,2]' }, expect: [{ contains: '!' }] },
      { name: 'case 3 (2)', inputs: { a: 'y', b: '[1,2]' }, expect: [{ contains: '!' }] },
      { name: 'case 4', inputs: { a: '@@at', b: '{"k":1}' }, expect: [{ contains: '!' }] },
    ]);
    expect(noteTexts(converted)).toEqual([
      'in/promptfooconfig.yaml:10: the variable `b` is a list: it is given as JSON',
      'in/promptfooconfig.yaml:11: the variable `b` is an object: it is given as JSON',
    ]);
  });

  it('come from tables, lists and lines, and from scenarios', async () => {
    const files = {
      't.csv':
        'a,b,__expected,__expected2,__description,__metric\n1,"x, {{a}}",contains:{{a}},not-icontains: z,row,m\n2,,plain,,,\n',
      'q.csv': 'a,b,__expected\n"x, y", "z",equals: w\n',
      's.yaml': '- { config: [{ vars: { a: 3 } }], tests: [{ vars: { b: y } }] }',
      't.json': '[{"vars": {"a": "j"}}]',
      't.jsonl': '{"vars": {"a": "l"}}\n\n{"vars": {"a": "m"}}\n',
    };
    const converted = await convert(
      `${head}tests: [file://t.csv, t.json, file://t.jsonl, file://t.py, q.csv]
scenarios:
  - file://s.yaml
  - config: [{ vars: { a: 1 } }, { vars: { a: 2 } }]
    tests: [{ vars: { b: x }, assert: [{ type: equals, value: "{{a}}{{b}}" }] }]
`,
      { files },
    );
    expect(parseCases(converted)).toEqual([
      {
        name: 'row',
        inputs: { a: '1', b: 'x, 1' },
        expect: [{ contains: '1' }, { not: { icontains: 'z' } }],
      },
      { name: 'case 2', inputs: { a: '2', b: '' }, expect: [{ equals: 'plain' }] },
      { name: 'case 3', inputs: { a: 'j', b: '' } },
      { name: 'case 4', inputs: { a: 'l', b: '' } },
      { name: 'case 5', inputs: { a: 'm', b: '' } },
      { name: 'case 6', inputs: { a: 'x, y', b: ' "z"' }, expect: [{ equals: 'w' }] },
      { name: 'case 7', inputs: { a: '3', b: 'y' } },
      { name: 'case 8', inputs: { a: '1', b: 'x' }, expect: [{ equals: '1x' }] },
      { name: 'case 9', inputs: { a: '2', b: 'x' }, expect: [{ equals: '2x' }] },
    ]);
    expect(noteTexts(converted)).toEqual([
      expect.stringMatching(/^in\/promptfooconfig\.yaml:3: the tests in file:\/\/t\.py have no equivalent/),
    ]);
  });

  it.each([
    ['{{ b }} {{who}} {{b}}', 'B {{who}} {{b}}'],
    ['{{who | upper}} {{b | upper}}', '{{who | upper}} {{b | upper}}'],
    ['{{b}}{{b}}{{b}}{{b}}{{b}}{{b}}', 'BBBBBB'],
    ['{{ b | upper }} {{ open', '{{ b | upper }} {{ open'],
    ['two lines {%\n', 'two lines {%'],
    ['# Title {#id}', '# Title {#id}'],
    ['{{a}}', '{{a}}'],
    ['file://cut.txt', '{{ b | upper\n}}'],
  ])('leave in a variable what promptfoo leaves: %j', async (a, expected) => {
    const tests = JSON.stringify([{ vars: { a, b: 'B', c: '{{ b | upper }}', d: { e: '{% if b %}' } } }]);
    const files = { 'cut.txt': '{{ b | upper\n}}' };
    const converted = await convert(`${head}tests: ${tests}\n`, { files, isForTest: true });
    expect(parseCases(converted)[0]?.inputs).toMatchObject({ a: expected });
    expect(converted.notes.filter(({ isHarmless }) => isHarmless !== true)).toEqual([]);
  });

  it('name the environment in a variable, in a prompt of JSON too, which leaves other Nunjucks', async () => {
    const text = (value: string): string =>
      `prompts: ['[{"role": "user", "content": "{{a}}"}]']\n${PROVIDERS}tests:\n  - vars: { a: "${value}", b: B }\n`;
    const left = await convert(text('{{ b | upper }}'), { isForTest: true });
    expect([noteTexts(left), parseCases(left)[0]?.inputs]).toEqual([[], { a: '{{ b | upper }}' }]);
    const named = await convert(text("{{ env['X'] | upper }}"), { isForTest: true });
    expect(noteTexts(named)).toEqual([
      'in/promptfooconfig.yaml:4: a variable with `{{env.…}}` has no equivalent',
    ]);
    expect(parseCases(named)).toEqual([]);
  });

  it('fail if promptfoo fails: variables that it renders although nothing uses them', async () => {
    const text = `prompts: ["{{a}}"]
providers: [echo]
extensions: [file://hooks.js:afterAll, file://hooks.js:beforeAll]
tests:
  - vars: { a: "x {{z}}", z: null }
  - vars: { a: b, other: "{% foo %}" }
  - vars: { a: c, other: "a {{/if}}" }
  - vars: { a: d, other: "{% if a %}{{&a}}{% endif %} {{^a}}" }
`;
    const converted = await convert(text, { isForTest: true });
    expect(parseCases(converted).map(({ inputs }) => inputs)).toEqual([{ a: 'x null' }, { a: 'd' }]);
    expect(
      converted.notes.filter(({ isHarmless }) => !isHarmless).map(({ line, message }) => [line, message]),
    ).toEqual([
      [3, '`extensions` has no equivalent'],
      [6, "the variable `other` has Nunjucks that promptfoo can't read"],
      [7, "the variable `other` has Nunjucks that promptfoo can't read"],
    ]);
  });

  it('that are all left out leave no case of defaultTest alone', async () => {
    const alone = `${head}defaultTest: { assert: [{ type: contains, value: x }] }\n`;
    expect(parseCases(await convert(alone, { isForTest: true }))).toHaveLength(1);
    const left = await convert(`${alone}tests: file://t.js\n`, { files: { 't.js': '' }, isForTest: true });
    expect(left.test).toBeUndefined();
  });

  it.each([
    ['{ type: equals, value: 5 }', [{ equals: '5' }]],
    ['{ type: equals, value: { a: 1 } }', [{ schema: { const: { a: 1 } } }, UNFENCED]],
    ['{ type: contains-any, value: [x, y] }', [{ any: [{ contains: 'x' }, { contains: 'y' }] }]],
    ['{ type: icontains-all, value: "x, y" }', [{ icontains: 'x' }, { icontains: 'y' }]],
    ['{ type: not-contains-any, value: [x, y] }', [{ not: { any: [{ contains: 'x' }, { contains: 'y' }] } }]],
    [
      '{ type: not-contains-all, value: [x, y] }',
      [{ any: [{ not: { contains: 'x' } }, { not: { contains: 'y' } }] }],
    ],
    ['{ type: starts-with, value: x }', [{ startsWith: 'x' }]],
    ['{ type: regex, value: "^\\\\d" }', [{ matches: '^\\d' }]],
    ['{ type: is-json }', [{ schema: true }, UNFENCED]],
    ['{ type: is-json, value: { type: object } }', [{ schema: { type: 'object' } }, UNFENCED]],
    ['{ type: is-json, value: file://s.json }', [{ schema: { type: 'array' } }, UNFENCED]],
    ['{ type: contains-json }', [{ containsJson: { type: ['object', 'array'] } }]],
    ['{ type: latency, threshold: 1500 }', [{ seconds: 1.5 }]],
    ['{ type: cost, threshold: 0.01 }', [{ cost: 0.01 }]],
    ['{ type: llm-rubric, value: "is {{a}}" }', [{ rubric: 'is A' }]],
  ])('assert what ours expect: %s', async (assertion, expected) => {
    const files = { 's.json': '{"type": "array"}' };
    const converted = await convert(`${head}tests: [{ vars: { a: A }, assert: [${assertion}] }]\n`, {
      files,
    });
    expect(parseCases(converted)[0]?.expect).toEqual(expected);
  });

  it.each(['{}', '{ description: d }', '{ file: tests/a.yaml }', '{ vars: }'])(
    'are refused if promptfoo takes them for none: %s',
    async test => {
      const text = `prompts: [a]\n${PROVIDERS}tests:\n  - ${test}\n`;
      expect(noteTexts(await convert(text, { isForTest: true }))).toContainEqual(
        expect.stringMatching(/^in\/promptfooconfig\.yaml:4: promptfoo refuses a test with none of `assert`/),
      );
      expect(noteTexts(await convert(text)).join()).not.toContain('refuses');
    },
  );

  it('name what has no equivalent, with its line', async () => {
    const converted = await convert(`${head}outputPath: out.json
tests:
  - vars: { a: A }
    threshold: 1
    options: { transform: x, prefix: y }
    assert:
      - { type: javascript, value: "x" }
      - { type: similar, value: x, threshold: 0.8 }
      - { type: contains, value: x, weight: 2, metric: m, transform: t, provider: p }
`);
    expect(noteTexts(converted).map(note => note.replace('in/promptfooconfig.yaml:', ''))).toEqual([
      '6: `threshold` of a test has no equivalent',
      "7: `prefix` of a test's options has no equivalent",
      '10: the assertion `similar` has no equivalent',
      '11: `weight` of an assertion has no equivalent',
      '11: `provider` of an assertion is a key that promptfoo ignores too',
    ]);
  });
});

describe('variables in files', () => {
  it('are merged, by paths and patterns relative to the file of the test', async () => {
    const files = {
      'v_1.yaml': 'a: one\nb: lost',
      'v_2.yaml': 'b: two',
      'sub/t.yaml': `- vars: ../v_*.yaml
- vars: [../v_2.yaml, ../v_1.yaml]
- vars: v_*.yaml
`,
    };
    const text = `prompts: ['{{a}} {{b}}']\n${PROVIDERS}tests: [sub/t.yaml, { vars: file://v_1.yaml }]\n`;
    const converted = await convert(text, { files, isForTest: true });
    // promptfoo asks with the same variables.
    expect(parseCases(converted).map(({ inputs }) => Object.values(inputs ?? {}).join(' '))).toEqual([
      'one two',
      'one lost',
      ' ',
      'one lost',
    ]);
    expect(noteTexts(converted)).toEqual([
      'in/sub/t.yaml:3: v_*.yaml names no file, and so adds no variables',
    ]);
  });
});

describe('what a configuration may make', () => {
  const list = (count: number): string =>
    JSON.stringify(Array.from({ length: count }, (_, at) => String(at)));
  const lists = (one: number, other: number): string =>
    `prompts: ['{{a}} {{b}}']\n${PROVIDERS}tests:\n  - vars: { a: ${list(one)}, b: ${list(other)} }\n`;

  it('is at most 100,000 cases, which are counted before they are made', async () => {
    await expect(convert(lists(10_000, 10_000))).rejects.toThrow('its lists produce more than 100,000 cases');
    await expect(convert(lists(1001, 100))).rejects.toThrow('its lists produce more than 100,000 cases');
  });

  it('are all combinations of its lists', async () => {
    const cases = parseCases(await convert(lists(101, 100)));
    expect(cases).toHaveLength(10_100);
    expect(cases.at(-1)).toEqual({ name: 'case 1 (10100)', inputs: { a: '100', b: '99' } });
  });

  it('is at most 64 MiB of inputs', async () => {
    const files = { 'long.txt': 'x'.repeat(1024 * 1024) };
    const config = (count: number): string =>
      `prompts: ['{{a}} {{b}}']\n${PROVIDERS}tests:\n  - vars: { a: file://long.txt, b: ${list(count)} }\n`;
    await expect(convert(config(70), { files })).rejects.toThrow('larger than 64 MiB in total');
  });

  it('reads at most 1,000 different files', async () => {
    const files = Object.fromEntries(Array.from({ length: 1001 }, (_, at) => [`f${at}.txt`, 'x']));
    const config = (count: number): string =>
      `prompts: ['{{a}}']\n${PROVIDERS}tests:\n${Object.keys(files)
        .slice(0, count)
        .map(name => `  - vars: { a: file://${name} }\n`)
        .join('')}`;
    expect(parseCases(await convert(config(1000), { files }))).toHaveLength(1000);
    await expect(convert(config(1001), { files })).rejects.toThrow(
      'a configuration may name 1,000 different ones',
    );
  });
});

describe('programs and addresses of promptfoo', () => {
  const parseModels = ({ models = 'models: []' }: Converted): unknown =>
    (parse(models) as { models: unknown }).models;

  it('become entries of a models file, called as promptfoo calls them', async () => {
    const converted = await convert(
      [
        'prompts: ["Say {{a}}"]',
        'providers:',
        '  - exec:python chain.py --mode "a b"',
        '  - id: https',
        '    label: Our bot',
        '    config:',
        '      url: https://bot.example/ask?u={{a}}',
        '      method: POST',
        '      headers: {Authorization: "Bearer {{env.BOT_KEY}}", X-Cost: "${5}"}',
        '      body: {question: "{{prompt}}", top: 3, session: "s-{{context.uuid}}"}',
        '      transformResponse: json.choices[0].text',
      ].join('\n'),
      { files: { 'chain.py': '' } },
    );
    expect(parseModels(converted)).toEqual([
      {
        model: 'python-chain-py-mode-a-b-program',
        modality: 'text',
        program: [
          'node',
          '-e',
          expect.stringContaining('execFile'),
          '${here}',
          '["python","chain.py","--mode","a b"]',
          '{"config":{}}',
          '[]',
          '${messages}',
        ],
      },
      {
        model: 'our-bot-address',
        modality: 'text',
        address: 'https://bot.example/ask?u=${input.a}',
        headers: { Authorization: 'Bearer ${env.BOT_KEY}', 'X-Cost': '$${5}' },
        body: { question: '${prompt}', top: 3, session: 's-' },
        output: 'choices[0].text',
      },
    ]);
    expect(converted.prompt).toMatch(/^model: python-chain-py-mode-a-b-program$/m);
    expect(noteTexts(converted)).toEqual([]);
  });

  it('have no paths of this machine in entries that are written to a file', async () => {
    const text = `prompts: ["{{a}}"]\nproviders: [file://bot.ts]\ntests: [{vars: {a: x}}]`;
    const files = { 'bot.ts': '' };
    const written = await convert(text, { files });
    expect(written.models).not.toContain('node_modules');
    expect(noteTexts(written).join('\n')).toMatch(
      /`file:\/\/bot\.ts` is TypeScript: its entry needs tsx or jiti/,
    );
    const run = await convert(text, { files, isForTest: true, allowCommands: true });
    expect([run.models, noteTexts(run)]).toEqual([expect.stringContaining('node_modules'), []]);
  });

  it('are different models if their configs differ', async () => {
    const providers = '[{id: file://bot.mjs, config: {k: 1}}, {id: ./bot.mjs, config: {k: 2}}, bot.mjs]';
    const text = `prompts: ["{{a}}"]\nproviders: ${providers}\ntests: [{vars: {a: x}}]`;
    const converted = await convert(text, { files: { 'bot.mjs': '' } });
    const names = ['bot-mjs-program', 'bot-mjs-program-2', 'bot-mjs-program-3'];
    expect(parseModels(converted)).toMatchObject(names.map(model => ({ model })));
    expect(converted.test).toMatchObject({ models: names });
  });

  it.each([
    ['config: {url: "https://{{a}}/", body: {}}', /its host is not literal/],
    ['config: {url: "http://bot.example/", body: {}}', /it uses http and is not this machine/],
    ['config: {url: "https://b.example/", body: {q: "{{a | upper}}"}}', /more than variables/],
    ['config: {url: "https://b.example/", body: {q: "{{a.b}}"}}', /more than variables/],
    ['config: {url: "https://b.example/", body: {}, transformResponse: file://t.js}', /is a file/],
    ['config: {url: "https://b.example/", body: {}, auth: {}}', /it has `auth`/],
  ])('are named if no entry can express them: %s', async (config, note) => {
    const converted = await convert(
      `prompts: ["{{a}}"]\nproviders: [{id: https, ${config}}]\ntests: [{vars: {a: x}}]`,
    );
    expect(parseModels(converted)).toEqual([]);
    expect(noteTexts(converted).join('\n')).toMatch(note);
  });
});

describe('what promptfoo does to values', () => {
  const PROMPT = `prompts: ["{{a}}"]\n${PROVIDERS}tests:\n`;

  it.each([
    ['1.50', '1.5'],
    ['007', '7'],
    ['1e3', '1000'],
    ['"007"', '007'],
    ['|\n        one\n        two\n', 'one\ntwo'],
  ])('reads %j as %j', async (written, value) => {
    const converted = await convert(`${PROMPT}  - vars:\n      a: ${written}\n`);
    expect(parseCases(converted)[0]?.inputs).toEqual({ a: value });
  });

  it.each([
    ['contains-any', `'one, "two, three"'`, { any: [{ contains: 'one' }, { contains: 'two, three' }] }],
    ['contains-json', undefined, { containsJson: { type: ['object', 'array'] } }],
  ])('reads the value of %s', async (type, value, expectation) => {
    const given = value === undefined ? '' : `, value: ${value}`;
    const converted = await convert(`${PROMPT}  - assert: [{ type: ${type}${given} }]\n`);
    expect(parseCases(converted)[0]?.expect).toEqual([expectation]);
  });

  it.each([
    'Intl.DateTimeFormat().format()',
    'process.env.X',
    'output.localeCompare("b")',
    'new URL(output)',
  ])('starts Node for javascript that only Node can run: %s', async value => {
    const text = JSON.stringify({
      prompts: ['a'],
      providers: ['echo'],
      tests: [{ assert: [{ type: 'javascript', value }] }],
    });
    const refused = await convert(text, { isForTest: true });
    expect(noteTexts(refused)).toEqual([
      'in/promptfooconfig.yaml:1: the assertion `javascript` runs a program, which runs only with --allow-commands',
    ]);
    expect(parseCases(await convert(text, { isForTest: true, allowCommands: true }))).toEqual([
      { name: 'case 1', expect: [{ javascript: value }] },
    ]);
    expect(noteTexts(await convert(text))).toEqual([
      expect.stringMatching(/`javascript` uses `\w+`, which its engine does not have$/u),
    ]);
  });

  it('names transforms that need Node', async () => {
    const text = `prompts: [a]
providers: [{ id: echo, transform: "new URL(output).host" }]
tests:
  - options: { transform: "output.toLocaleString()" }
    assert: [{ type: contains, value: a, transform: "process.env.A" }]
`;
    const note = (line: number, used: string): string =>
      `in/promptfooconfig.yaml:${line}: a transform uses \`${used}\`, which its engine does not have`;
    expect(noteTexts(await convert(text, { isForTest: true, allowCommands: true }))).toEqual([
      note(4, 'toLocaleString'),
      note(5, 'process'),
      note(2, 'URL'),
    ]);
  });

  it('leaves out an empty contains, and names it', async () => {
    const converted = await convert(`${PROMPT}  - assert: [{ type: contains, value: "" }]\n`);
    expect([parseCases(converted)[0]?.expect, noteTexts(converted)]).toEqual([
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
    expect(shown(await convert(config, { files: { 'c.yaml': chat } }))).toEqual([['user', 'Hi']]);
  });
});
