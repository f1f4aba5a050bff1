import { describe, expect, it } from 'vitest';
import { convert, faultMessages, noteLines } from './convert-configuration.ts';

const ALL_SETTINGS =
  'temperature: 0.3, top_p: 0.5, top_k: 5, max_tokens: 7, max_completion_tokens: 8, num_predict: 9, seed: 3, random_seed: 4, stop: [x], stop_sequences: [y], frequency_penalty: 0.1, presence_penalty: 0.2, reasoning_effort: low, unknown: 1';

const SAMPLING = {
  temperature: 0.3,
  topP: 0.5,
  stopSequences: ['x'],
  frequencyPenalty: 0.1,
  presencePenalty: 0.2,
};

describe('settings of providers of promptfoo', () => {
  it.each([
    ['openai:chat:gpt-4o', /promptfoo ignores/],
    ['openrouter:meta/llama', /promptfoo ignores/],
    ['anthropic:messages:claude-sonnet-4-6', /promptfoo ignores/],
    ['ollama:chat:llama3', /promptfoo ignores/],
    ['google:gemini-2.5-flash', /`system`.* has no equivalent/],
  ])('leave out a `system` only if promptfoo ignores it: %s', async (id, expectedNote) => {
    const provider = `{ id: '${id}', config: { system: Be terse. } }`;
    const text = `prompts: [a]\nproviders: [${provider}]\ntests: [{ vars: {} }]\n`;
    const converted = await convert(text, { isForTest: true });
    expect(noteLines(converted).join()).toMatch(expectedNote);
  });

  it('are those that promptfoo sends to each kind of model, with its defaults', async () => {
    const { temperature: _, ...samplingWithoutTemperature } = SAMPLING;
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

    expect((converted.testContent as unknown as { models: unknown[] }).models).toEqual([
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
        config: {
          ...samplingWithoutTemperature,
          maxOutputTokens: 8,
          seed: 3,
          reasoningEffort: 'low',
        },
      },
      { model: 'openrouter/openai/o3', config: {} },
      { model: 'deepseek/deepseek-reasoner', config: { ...SAMPLING, maxOutputTokens: 7, seed: 3 } },
      { model: 'deepseek/deepseek-reasoner', config: { temperature: 0, maxOutputTokens: 1024 } },
    ]);
    expect(faultMessages(converted)).toEqual([
      "`thinkingConfig` of a provider's config has no equivalent",
      "`isReasoningModel` of a provider's config has no equivalent",
      "`n` of a provider's config has no equivalent",
      'an answer format other than that of the first provider has no equivalent',
    ]);
  });

  it('include tools, in the form of Claude for Claude', async () => {
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
    const { models } = converted.testContent as unknown as { models: { config: object }[] };

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
    expect(noteLines(converted)).toEqual(
      [10, 11, 12].map(
        line =>
          `in/promptfooconfig.yaml:${line}: \`tools\` of a provider's config has no equivalent`,
      ),
    );
  });

  it.each([
    ['{ Content-Type: application/json, X-Title: docs }', []],
    ['{ Content-Type: text/plain }', ["2: `headers` of a provider's config has no equivalent"]],
    ['{ X-Team: docs }', ["2: `headers` of a provider's config has no equivalent"]],
  ])('may include only headers that are sent anyway: %s', async (headers, notes) => {
    const text = `prompts: [a]\nproviders: [{ id: 'google:gemini-2.5-flash', config: { headers: ${headers} } }]\ntests: [{ vars: {} }]\n`;
    const converted = await convert(text, { isForTest: true });
    expect(noteLines(converted)).toEqual(notes.map(note => `in/promptfooconfig.yaml:${note}`));
  });
});
