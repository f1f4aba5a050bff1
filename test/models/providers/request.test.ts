import { expect, it } from 'vitest';
import type { OptionName, Provider } from '../../../src/models/model-entry.ts';
import { guessModel } from '../../../src/models/providers/guessed-model.ts';
import { listKnownProviders } from '../../../src/models/providers/providers.ts';
import { buildRequest } from '../../../src/models/providers/requests/build-request.ts';
import type { BuiltRequest } from '../../../src/models/providers/requests/built-request.ts';
import { createJob } from '../job.ts';

function findProviderNamed(name: string): Provider {
  const provider = listKnownProviders({ AWS_REGION: 'eu-west-1' }).find(
    known => known.name === name,
  );
  if (!provider) throw new Error(`there is no provider ${name}`);
  return provider;
}

async function buildForModel(
  name: string,
  runOptions: Record<string, unknown>,
  unsupported: readonly OptionName[] = [],
): Promise<Pick<BuiltRequest, 'warnings'> & { body: Record<string, unknown> }> {
  const slash = name.indexOf('/');
  const provider = findProviderNamed(name.slice(0, slash));
  const model = guessModel(provider, name, { id: name.slice(slash + 1), guessedFrom: 'prefix' });
  const access = { provider, key: 'a-key', env: {} };
  const { body, warnings } = await buildRequest(
    createJob({ model, runOptions }),
    access,
    new Set(unsupported),
  );

  return {
    body: JSON.parse(Buffer.from(body ?? []).toString()) as Record<string, unknown>,
    warnings,
  };
}

const LEFT_OUT = 'does not take reasoningEffort: left out';
const describeNearest = (effort: string) =>
  `does not take reasoningEffort ${effort}: the nearest is sent`;

it.each<[string, string, object, string?]>([
  ['openai/gpt-5.6', 'none', { reasoning: { effort: 'none' } }],
  ['openai/gpt-5.6', 'much', { reasoning: { effort: 'much' } }],
  ['anthropic/claude-opus-4-8', 'max', { output_config: { effort: 'max' } }],
  ['anthropic/claude-opus-4-8', 'none', { thinking: { type: 'disabled' } }],
  [
    'anthropic/claude-opus-4-8',
    'minimal',
    { output_config: { effort: 'low' } },
    describeNearest('minimal'),
  ],
  ['deepseek/deepseek-v4-flash', 'max', { reasoning_effort: 'max' }],
  ['deepseek/deepseek-v4-flash', 'none', { thinking: { type: 'disabled' } }],
  [
    'deepseek/deepseek-v4-flash',
    'minimal',
    { reasoning_effort: 'low' },
    describeNearest('minimal'),
  ],
  ['groq/openai/gpt-oss-120b', 'minimal', { reasoning_effort: 'low' }, describeNearest('minimal')],
  [
    'mistral/mistral-medium-latest',
    'minimal',
    { reasoning_effort: 'high' },
    describeNearest('minimal'),
  ],
  [
    'googleai/gemini-3-pro-preview',
    'none',
    { generationConfig: { thinkingConfig: { thinkingLevel: 'low' } } },
    describeNearest('none'),
  ],
  ['xai/grok-4.5', 'minimal', { reasoning_effort: 'minimal' }],
])(
  'sends %s the effort %s, or the nearest that it takes, with a note',
  async (name, effort, expectedEffort, expectedNote) => {
    const { body, warnings } = await buildForModel(name, { reasoningEffort: effort });
    const id = name.slice(name.indexOf('/') + 1);
    expect(body).toMatchObject(expectedEffort);
    expect(warnings).toEqual(expectedNote === undefined ? [] : [`${id} ${expectedNote}`]);
  },
);

it.each([
  ['anthropic/claude-opus-4-8', 'much'],
  ['groq/openai/gpt-oss-120b', 'max'],
  ['mistral/mistral-medium-latest', 'max'],
  ['googleai/gemini-3-pro-preview', 'max'],
])('sends %s nothing for the effort %s, which it does not know', async (name, effort) => {
  const { body, warnings } = await buildForModel(name, { reasoningEffort: effort });
  const id = name.slice(name.indexOf('/') + 1);
  expect(JSON.stringify(body)).not.toMatch(/effort|thinking/i);
  expect(warnings).toEqual([`${id} ${LEFT_OUT}`]);
});

it('leaves out the temperature of a model that refuses not to think', async () => {
  const runOptions = { temperature: 0.5, reasoningEffort: 'none' };
  expect((await buildForModel('openai/gpt-5.6', runOptions)).body).toMatchObject({
    temperature: 0.5,
  });

  const { body, warnings } = await buildForModel('openai/gpt-5.6', runOptions, ['reasoningEffort']);
  expect(body).not.toHaveProperty('temperature');
  expect(warnings.toSorted()).toEqual([
    'gpt-5.6 does not take reasoningEffort: left out',
    'gpt-5.6 does not take temperature: left out',
  ]);
});
