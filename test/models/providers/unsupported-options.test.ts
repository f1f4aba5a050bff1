import { describe, expect, it } from 'vitest';
import type { InterfaceName, ModelEntry, Provider } from '../../../src/models/model-entry.ts';
import { guessModel } from '../../../src/models/providers/guessed-model.ts';
import { listKnownProviders } from '../../../src/models/providers/providers.ts';
import {
  findProviderMaximum,
  isReasoningModel,
  listOmittedOptions,
  toModelTarget,
} from '../../../src/models/providers/requests/unsupported-options.ts';

const ENV = { AZURE_RESOURCE_NAME: 'mine', AWS_REGION: 'eu-west-1' };
const PENALTIES = ['frequencyPenalty', 'presencePenalty'];

/** Returns a model of a known provider, by its name with prefix. */
function knownModel(
  name: string,
  more: Partial<ModelEntry> = {},
  env: Record<string, string> = ENV,
): ModelEntry {
  const slash = name.indexOf('/');
  const provider = listKnownProviders(env).find(one => one.name === name.slice(0, slash));
  if (!provider) throw new Error(`${name} has no provider`);
  return {
    ...guessModel(provider, name, { id: name.slice(slash + 1), guessedFrom: 'prefix' }),
    ...more,
  };
}

function customModel(
  engine: InterfaceName,
  id: string,
  baseUrl = 'https://corner.example/v1',
): ModelEntry {
  const provider: Provider = {
    name: 'corner',
    baseUrl,
    interfaceName: engine,
    keyVariables: [],
    needsKey: false,
  };
  return guessModel(provider, id, { id, guessedFrom: 'prefix' });
}

const leftOut = (model: ModelEntry, settings = {}): string[] =>
  [...listOmittedOptions(model, settings)].sort();

/** Everything but what is named. */
const ALL = [
  ...PENALTIES,
  'n',
  'reasoningEffort',
  'seed',
  'stopSequences',
  'temperature',
  'topK',
  'topP',
];

const allBut = (...names: string[]): string[] => ALL.filter(option => !names.includes(option));

describe('the options that a model does not take', () => {
  it.each<[string, string[]]>([
    ['openai/gpt-5.6', allBut('reasoningEffort')],
    ['openai/gpt-6-luna', allBut('reasoningEffort')],
    ['openai/o3', allBut('reasoningEffort')],
    ['openai/ft:gpt-5-mini:acme::x1', allBut('reasoningEffort')],
    ['openai/gpt-4o-mini', allBut('temperature', 'topP')],
    ['openai/gpt-5-chat-latest', allBut('temperature', 'topP')],
    ['azure/gpt-5-mini', allBut('reasoningEffort')],
    ['azure/gpt-35-turbo', allBut('temperature', 'topP')],
    ['azure/mine', allBut('temperature', 'topP', 'reasoningEffort')],
    ['anthropic/claude-haiku-5-5', allBut('reasoningEffort', 'stopSequences')],
    ['anthropic/claude-opus-4-8', allBut('reasoningEffort', 'stopSequences')],
    ['anthropic/claude-nova-9', allBut('reasoningEffort', 'stopSequences')],
    ['anthropic/claude-opus-4-6', [...PENALTIES, 'n', 'seed']],
    ['anthropic/claude-haiku-4-5-20251001', [...PENALTIES, 'n', 'reasoningEffort', 'seed']],
    ['anthropic/claude-opus-4-20250514', [...PENALTIES, 'n', 'reasoningEffort', 'seed']],
    ['bedrock/us.anthropic.claude-sonnet-5-v1:0', allBut('reasoningEffort', 'stopSequences')],
    [
      'bedrock/anthropic.claude-sonnet-4-5-20250929-v1:0',
      [...PENALTIES, 'n', 'reasoningEffort', 'seed'],
    ],
    ['bedrock/eu.amazon.nova-lite-v1:0', [...PENALTIES, 'n', 'seed', 'topK']],
    ['googleai/gemini-3.5-flash', PENALTIES],
    ['googleai/gemini-2.0-flash', ['reasoningEffort']],
    ['mistral/mistral-medium-latest', ['topK']],
    ['mistral/codestral-latest', ['reasoningEffort', 'topK']],
    ['groq/openai/gpt-oss-120b', ['n', 'topK']],
    ['groq/llama-3.3-70b-versatile', ['n', 'reasoningEffort', 'topK']],
    ['deepseek/deepseek-chat', [...PENALTIES, 'n', 'seed', 'topK']],
    ['deepseek/deepseek-reasoner', [...PENALTIES, 'n', 'seed', 'temperature', 'topK', 'topP']],
    ['deepseek/deepseek-v4-flash', [...PENALTIES, 'n', 'seed', 'temperature', 'topK', 'topP']],
    ['xai/grok-3', ['presencePenalty', 'reasoningEffort', 'topK']],
    ['xai/grok-4.5', [...PENALTIES, 'stopSequences', 'topK']],
    ['xai/grok-4-0709', [...PENALTIES, 'reasoningEffort', 'stopSequences', 'topK']],
    ['xai/grok-4.20-non-reasoning', [...PENALTIES, 'reasoningEffort', 'topK']],
    ['cerebras/gpt-oss-120b', [...PENALTIES, 'topK']],
    ['openrouter/anthropic/claude-sonnet-4.5', [...PENALTIES, 'n', 'reasoningEffort', 'seed']],
    ['openrouter/meta-llama/llama-3', ['n']],
    ['together/meta-llama/Llama-3.3-70B-Instruct-Turbo', []],
    ['fireworks/accounts/fireworks/models/llama-v3p3-70b-instruct', []],
    ['ollama/llama3.2', []],
    ['vllm/openai/gpt-oss-20b', []],
  ])('%s', (name, options) => {
    expect(leftOut(knownModel(name))).toEqual(options.toSorted());
  });

  it("are those of the model's name at other addresses too", () => {
    const moved = knownModel(
      'openai/gpt-5-mini',
      {},
      { OPENAI_BASE_URL: 'https://proxy.example/v1' },
    );
    expect(leftOut(moved)).toEqual(
      [...PENALTIES, 'stopSequences', 'temperature', 'topK', 'topP'].sort(),
    );
    expect(leftOut(customModel('openai', 'some-model'))).toEqual(['topK']);
    expect(leftOut(customModel('openai', 'some-model', 'http://192.168.0.7:8000/v1'))).toEqual([]);
  });

  it('are what models.yaml says of a name that says nothing', () => {
    const deployment = (isReasoning: boolean): string[] =>
      leftOut(knownModel('azure/mine', { isReasoning }));
    expect(deployment(true)).toEqual(allBut('reasoningEffort').toSorted());
    expect(deployment(false)).toEqual(allBut('temperature', 'topP').toSorted());
    expect(leftOut(knownModel('ollama/llama3.2', { omittedOptions: ['seed'] }))).toEqual(['seed']);
  });

  it('depend on the other options', () => {
    const gpt = knownModel('openai/gpt-5.6');
    expect(leftOut(gpt, { reasoningEffort: 'none' })).not.toContain('temperature');
    expect(leftOut(gpt, { reasoningEffort: 'low' })).toContain('temperature');

    const deepseek = knownModel('deepseek/deepseek-v4-flash');
    expect(leftOut(deepseek, { reasoningEffort: 'none' })).not.toContain('temperature');

    const claude = knownModel('anthropic/claude-haiku-4-5');
    expect(leftOut(claude, { temperature: 0.5, topP: 0.5 })).toContain('topP');
    expect(leftOut(claude, { topP: 0.5 })).not.toContain('topP');
  });
});

it.each<[string, number | undefined]>([
  ['anthropic/claude-haiku-4-5', 1],
  ['bedrock/amazon.nova-lite-v1:0', 1],
  ['bedrock/openai.gpt-5.6', undefined],
  ['openrouter/anthropic/claude-haiku-4.5', 1],
  ['mistral/mistral-small-latest', 1.5],
  ['cerebras/llama3.1-8b', 1.5],
  ['openai/gpt-4o', undefined],
  ['ollama/llama3.2', undefined],
])('the highest temperature of %s is %s', (name, max) => {
  const target = toModelTarget(knownModel(name));
  expect(target && findProviderMaximum(target, 'temperature')).toBe(max);
});

it.each<[string, boolean | undefined]>([
  ['openai/gpt-6-luna', true],
  ['openai/codex-mini-latest', true],
  ['openai/chatgpt-4o-latest', false],
  ['openai/ft:gpt-4o-mini:acme::x1', false],
  ['azure/mine', undefined],
])('%s thinks: %s', (name, thinks) => {
  const target = toModelTarget(knownModel(name));
  expect(target && isReasoningModel(target)).toBe(thinks);
});
