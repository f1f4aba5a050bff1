import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { PROVIDERS } from '../../src/models/providers/provider-data.ts';
import { runCommand } from '../support/command.ts';
import { runCommandHere } from '../support/command-here.ts';
import { createTemporaryDirectory } from '../support/context.ts';
import { png } from '../support/png.ts';
import { answerInForm } from '../support/providers/answers.ts';
import type { ChatDialect } from '../support/providers/chat-dialects.ts';
import { FakeProvider, type ProviderHandler } from '../support/providers/fake-provider.ts';

// One prompt with every option of the guide, a picture and a schema, with every provider of the
// list. The doubles refuse what the real services refuse, and each provider is asked once.

interface Reached {
  readonly model: string;
  /**
   * Variable of its address, and the path below which its interface lies; default `<NAME>_BASE_URL`
   * and `/v1`.
   */
  readonly variable?: string;
  readonly path?: string;
  readonly dialect?: ChatDialect;
  /** The path by which its interface is known. */
  readonly asks: RegExp;
  /** Set by models.yaml in place of a variable. */
  readonly engine?: string;
  /** Options that the model does not take. */
  readonly leftOut: readonly string[];
}

const CHAT = /\/chat\/completions$/;
const MORE = ['frequencyPenalty', 'presencePenalty'];

/** The providers by prefix; one with several interfaces appears with each of them. */
const REACHED: readonly (readonly [prefix: string, reached: Reached])[] = [
  [
    'openai',
    {
      model: 'gpt-5.6',
      engine: 'openai-responses',
      asks: /\/v1\/responses$/,
      leftOut: ['temperature', 'topP', 'topK', 'seed', ...MORE, 'stopSequences', 'n'],
    },
  ],
  [
    'openai',
    {
      model: 'gpt-5.6',
      dialect: 'openai',
      asks: CHAT,
      leftOut: ['temperature', 'topP', 'topK', ...MORE, 'stopSequences'],
    },
  ],
  [
    'anthropic',
    {
      model: 'claude-haiku-4-5',
      path: '',
      asks: /\/v1\/messages$/,
      leftOut: ['topP', 'seed', ...MORE, 'reasoningEffort', 'n'],
    },
  ],
  [
    'googleai',
    {
      model: 'gemini-3-pro-preview',
      variable: 'GEMINI',
      path: '/v1beta',
      asks: /:generateContent$/,
      leftOut: MORE,
    },
  ],
  [
    'vertexai',
    {
      model: 'gemini-2.5-flash',
      path: '/v1/publishers/google',
      asks: /:generateContent$/,
      leftOut: MORE,
    },
  ],
  [
    'azure',
    {
      model: 'gpt-5.6',
      path: '/openai/v1',
      asks: /\/openai\/v1\/responses$/,
      leftOut: ['temperature', 'topP', 'topK', 'seed', ...MORE, 'stopSequences', 'n'],
    },
  ],
  [
    'bedrock',
    {
      model: 'anthropic.claude-haiku-4-5-20251001-v1:0',
      path: '',
      asks: /\/invoke$/,
      leftOut: ['topP', 'seed', ...MORE, 'reasoningEffort', 'n'],
    },
  ],
  [
    'bedrock',
    {
      model: 'amazon.nova-pro-v1:0',
      path: '',
      asks: /\/converse$/,
      leftOut: ['topK', 'seed', ...MORE, 'reasoningEffort', 'n'],
    },
  ],
  [
    'openrouter',
    { model: 'meta-llama/llama-4-maverick', dialect: 'openrouter', asks: CHAT, leftOut: ['n'] },
  ],
  ['groq', { model: 'openai/gpt-oss-120b', dialect: 'groq', asks: CHAT, leftOut: ['topK', 'n'] }],
  [
    'mistral',
    {
      model: 'mistral-large-latest',
      dialect: 'mistral',
      asks: CHAT,
      leftOut: ['topK', 'reasoningEffort'],
    },
  ],
  [
    'deepseek',
    {
      model: 'deepseek-v4-flash-vision-exp',
      dialect: 'deepseek',
      asks: CHAT,
      leftOut: ['temperature', 'topP', 'topK', 'seed', ...MORE, 'n'],
    },
  ],
  [
    'xai',
    { model: 'grok-4.5', dialect: 'xai', asks: CHAT, leftOut: ['topK', ...MORE, 'stopSequences'] },
  ],
  [
    'together',
    { model: 'meta-llama/Llama-4-Maverick', dialect: 'together', asks: CHAT, leftOut: [] },
  ],
  [
    'fireworks',
    {
      model: 'accounts/fireworks/models/deepseek-v3p2',
      dialect: 'fireworks',
      asks: CHAT,
      leftOut: [],
    },
  ],
  [
    'cerebras',
    { model: 'gpt-oss-120b', dialect: 'cerebras', asks: CHAT, leftOut: ['topK', ...MORE] },
  ],
  ['ollama', { model: 'llama3.2', asks: CHAT, leftOut: [] }],
  ['lmstudio', { model: 'qwen3-8b', dialect: 'lmstudio', asks: CHAT, leftOut: [] }],
  ['llamacpp', { model: 'tiny', asks: CHAT, leftOut: [] }],
  ['vllm', { model: 'qwen3-8b', asks: CHAT, leftOut: [] }],
];

const PROMPT = `---
config:
  temperature: 0.5
  topP: 0.9
  topK: 40
  seed: 7
  frequencyPenalty: 0.1
  presencePenalty: 0.2
  stopSequences: [END]
  reasoningEffort: low
  maxOutputTokens: 100
  n: 2
output:
  format: json
  schema:
    title: string
    stars?: integer
---
{{role "system"}}Be brief.
{{role "user"}}Review {{media url=picture}} as JSON.
`;

const ANSWER = '{"title": "A house", "stars": 3}';

let provider: FakeProvider;

beforeAll(async () => {
  provider = await FakeProvider.start();
});

afterAll(() => provider.close());

it('names every provider of the list', () => {
  expect(new Set(REACHED.map(([prefix]) => prefix))).toEqual(
    new Set(PROVIDERS.map(({ name }) => name)),
  );
});

it('has every option of the guide', () => {
  const guide = readFileSync(path.join(import.meta.dirname, '../../docs/models.md'), 'utf8');
  const [, section = ''] = guide.split(/^## Options$/m);
  const [table = ''] = /^(?:\|.*\n)+/m.exec(section) ?? [];
  const named = [...table.matchAll(/^\|([^|]*)\|/gm)].flatMap(
    ([, cell = '']) => cell.match(/(?<=`)\w+(?=`)/g) ?? [],
  );

  expect(named.toSorted()).toEqual(Object.keys(SENT_AS).toSorted());

  for (const option of named) expect(PROMPT).toMatch(new RegExp(`^  ${option}: `, 'm'));
});

/**
 * The options of the prompt as the bodies of requests have them, whatever their names are there.
 */
const SENT_AS: Readonly<Record<string, RegExp>> = {
  temperature: /"temperature":0\.5/,
  topP: /"top_?p":0\.9/i,
  topK: /"top_?k":40/i,
  seed: /"(?:random_)?seed":7/,
  frequencyPenalty: /"frequency_?penalty":0\.1/i,
  presencePenalty: /"presence_?penalty":0\.2/i,
  stopSequences: /"stop(?:_?sequences)?":\["END"\]/i,
  reasoningEffort: /"(?:reasoning_effort|effort|thinkingLevel)":"low"|"thinkingBudget":\d+/,
  maxOutputTokens: /"max_?(?:completion_|output_|output)?tokens":100/i,
  n: /"(?:n|candidateCount)":2/,
};

it.each(REACHED)('a prompt with every option runs with %s, %o', async (name, reached) => {
  const { model, dialect = 'local', engine, asks, leftOut } = reached;
  const { home, dataDir } = homeWithPrompt();
  if (engine !== undefined) {
    const entry = `providers: {${name}: {baseUrl: "${urlBelow('/v1', provider)}", engine: ${engine}}}\n`;
    writeFileSync(path.join(dataDir, 'models.yaml'), entry);
  }

  provider.dialect = dialect;
  provider.reset(answerRequest);
  const address = engine === undefined ? addressVariable(name, reached, provider) : {};
  const { code, stdout, stderr } = await runCommandHere(
    ['run', './all.prompt', '--image', 'picture=house.png', '-m', `${name}/${model}`],
    { home, env: { PROMPTRUN_DATA_DIR: dataDir, ...OTHER_KEY, ...address, ...keyVariable(name) } },
  );

  expect({ code, stderr: code === 0 ? '' : stderr }).toEqual({ code: 0, stderr: '' });
  expect(stdout).toContain('A house');

  const left = [...stderr.matchAll(/^note: .* does not take (\w+): left out$/gmu)].map(
    ([, option]) => option,
  );
  expect(left.toSorted()).toEqual([...leftOut].toSorted());
  expect(stderr).toMatch(/^(?:(?:note: |Using the embedded service ).*\n)*$/);

  const { text = '' } = provider.requests[0] ?? {};
  const missing = Object.entries(SENT_AS).filter(([, field]) => !field.test(text));

  expect(missing.map(([option]) => option).toSorted()).toEqual([...leftOut].toSorted());
  expect(provider.requests.map(request => decodeURIComponent(request.path))).toEqual([
    expect.stringMatching(asks),
  ]);
});

it('the built command reaches all of them, and nothing that a client writes reaches the terminal', async () => {
  const { home, dataDir } = homeWithPrompt();
  const sides = REACHED.filter(([, { engine }]) => engine === undefined);

  const env: Record<string, string> = { PROMPTRUN_DATA_DIR: dataDir, ...OTHER_KEY };
  const doubles = new Map<string, FakeProvider>();
  for (const [name, reached] of sides) {
    const double = doubles.get(name) ?? (await FakeProvider.start());
    if (!doubles.has(name)) onTestFinished(() => double.close());
    doubles.set(name, double);
    double.dialect = reached.dialect ?? 'local';
    double.reset(answerRequest);
    Object.assign(env, addressVariable(name, reached, double), keyVariable(name));
  }

  const models = sides.map(([name, { model }]) => `${name}/${model}`).join(',');
  const args = ['compare', './all.prompt', '--image', 'picture=house.png', '-m', models];
  const { code, stderr } = await runCommand(args, { home, env });

  expect({ code, stderr }).toEqual({
    code: 0,
    stderr: expect.stringMatching(/^(?:(?:note: |Using the embedded service ).*\n)*$/),
  });
  expect(stderr).toContain(`${sides.length} runs took`);

  for (const [name, double] of doubles) {
    const requestedPaths = double.requests.map(request => decodeURIComponent(request.path));
    const expectedPaths = sides
      .filter(([one]) => one === name)
      .map(([, { asks }]): unknown => expect.stringMatching(asks));
    expect([name, requestedPaths.length]).toEqual([name, expectedPaths.length]);
    expect(requestedPaths).toEqual(expect.arrayContaining(expectedPaths));
  }
});

/** A client warns of this one on standard error if it looks for a key by itself. */
const OTHER_KEY = { TOGETHER_AI_API_KEY: 'another-key' };

function homeWithPrompt(): { home: string; dataDir: string } {
  const home = createTemporaryDirectory();
  const dataDir = path.join(home, 'the-data');
  mkdirSync(dataDir, { mode: 0o700 });
  writeFileSync(path.join(home, 'all.prompt'), PROMPT);
  writeFileSync(path.join(home, 'house.png'), png(2, 2));
  return { home, dataDir };
}

const urlBelow = (below: string, at: FakeProvider): string =>
  `${new URL(at.baseUrl).origin}${below}`;

/** Returns the variable of a provider's address. */
function addressVariable(
  name: string,
  { variable = name, path: below = '/v1' }: Reached,
  at: FakeProvider,
): Record<string, string> {
  return { [`${variable.toUpperCase()}_BASE_URL`]: urlBelow(below, at) };
}

/** Returns the variable of a provider's key, if it takes one. */
function keyVariable(name: string): Record<string, string> {
  const [key] = PROVIDERS.find(one => one.name === name)?.keyVariables ?? [];
  return key === undefined ? {} : { [key]: 'a-key-of-the-provider' };
}

const answerRequest: ProviderHandler = (response, request) => {
  const answer = answerInForm(request, ANSWER);
  if (typeof answer === 'function') return answer(response, request);
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answer.body));
};
