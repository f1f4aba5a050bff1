import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { parsePromptFile } from '../../../../src/prompts/parse/parse-prompt.ts';
import { convert, faultMessages, noteLines, parseCases } from './convert-configuration.ts';

describe('providers of promptfoo', () => {
  it('of GitHub Models become models of their publishers, OpenAI by default', async () => {
    const ids = ['gpt-4o-mini', 'o3', 'openai/gpt-4.1', 'meta/llama-3'].map(id => `github:${id}`);
    const converted = await convert(
      `prompts: [a]\nproviders: ${JSON.stringify(ids)}\ntests: [{ vars: {} }]\n`,
    );
    const { models } = converted.testContent as unknown as { models: readonly { model: string }[] };
    const names = ['openai/gpt-4o-mini', 'openai/o3', 'openai/gpt-4.1', 'meta/llama-3'];
    expect(models.map(({ model }) => model)).toEqual(names);
  });

  it('become models by our names, each with its config', async () => {
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

    expect(parsePromptFile(converted.promptText, 'x.prompt')).toMatchObject({
      model: 'openai/gpt-4o',
      config: { temperature: 0, maxOutputTokens: 9, stopSequences: ['END'] },
      output: { format: 'json', schema: { type: 'array' } },
    });

    expect(converted.testContent).toMatchObject({
      models: [
        {
          model: 'openai/gpt-4o',
          config: { temperature: 0, maxOutputTokens: 9, stopSequences: ['END'] },
        },
        { model: 'anthropic/claude-sonnet-4', config: { temperature: 0, maxOutputTokens: 1024 } },
        { model: 'ollama/llama3.2', config: { temperature: 1 } },
      ],
    });

    expect(noteLines(converted)).toEqual([
      "in/promptfooconfig.yaml:10: `apiKey` of a provider's config has no equivalent",
      "in/promptfooconfig.yaml:14: the file of the provider `python:own.py` doesn't exist",
      'in/promptfooconfig.yaml:12: an answer format other than that of the first provider has no equivalent',
      'in/promptfooconfig.yaml:13: an answer format other than that of the first provider has no equivalent',
    ]);
    expect(JSON.stringify(converted)).not.toContain('sk-secret');
  });

  it('include only those that are asked with the converted prompt, with a note', async () => {
    const converted = await convert(`prompts: [{ id: one, raw: a }, { id: two, raw: b }]
providers:
  - { id: 'openai:gpt-4o', prompts: [two] }
  - anthropic:messages:claude-sonnet-4
tests: [{ vars: {} }]
`);
    expect(converted.testContent).toMatchObject({ models: ['anthropic/claude-sonnet-4'] });
    expect(noteLines(converted)).toContain(
      'in/promptfooconfig.yaml:3: `prompts` of the provider `openai:gpt-4o` has no equivalent: the test file names the models that are asked with its prompt',
    );
  });

  it('are asked at the addresses that promptfoo uses, with the settings that it sends', async () => {
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
  - azure:chat:image-texts
  - { id: 'azure:chat:m', config: { apiBaseUrl: 'https://gate.example/team/' } }
  - { id: 'google:m', config: { other: 1, generationConfig: { topP: 1, thinkingConfig: { thinkingBudget: 0 } } } }
  - { id: 'bedrock:meta.llama3-8b', config: { max_gen_len: 5, profile: x } }
  - { id: 'ollama:chat:m', config: { format: json } }
  - { id: 'deepseek:deepseek-chat', config: { apiBaseUrl: 'https://other.example' } }
tests: one.yaml
`,
      { files: { 'one.yaml': 'vars: {}\ndescription: one' }, isForTest: true, allowCommands: true },
    );
    const { models } = converted.testContent as unknown as {
      models: { model: string; config: unknown }[];
    };

    expect(parseCases(converted)).toEqual([{ name: 'one' }]);
    expect(models.at(-1)?.model).toBe('deepseek/deepseek-chat');
    expect(models.map(({ model }) => model)).toContain('azure/image-texts');
    expect(models.slice(0, 6)).toEqual([
      { model: 'huggingface/org/m:novita', config: { temperature: 0, maxOutputTokens: 5 } },
      { model: 'perplexity/sonar', config: { temperature: 0, maxOutputTokens: 1024 } },
      { model: 'openrouter/org/m', config: { temperature: 0, maxOutputTokens: 1024 } },
      { model: 'hf-text-generation-org-m-address', config: {} },
      { model: 'ollama/m', config: {} },
      { model: 'ours-openai-azure-com/m', config: { temperature: 0, maxOutputTokens: 1024 } },
    ]);

    expect(parse(converted.modelsText ?? '')).toEqual({
      providers: {
        huggingface: {
          baseUrl: 'https://router.huggingface.co/v1',
          engine: 'openai',
          apiKeyEnv: 'HF_TOKEN',
        },
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
    expect(faultMessages(converted)).toEqual([
      "`tools` of a provider's config has no equivalent",
      "`apiBaseUrl` of a provider's config has no equivalent",
      "`thinkingConfig` of a provider's config has no equivalent",
      "`max_gen_len` of a provider's config has no equivalent",
    ]);
  });
});
