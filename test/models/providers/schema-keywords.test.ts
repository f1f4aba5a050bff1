import { describe, expect, it } from 'vitest';
import type { InterfaceName } from '../../../src/models/model-entry.ts';
import { buildRequest } from '../../../src/models/providers/requests/build-request.ts';
import { createJob, providerAt } from '../job.ts';

const SCHEMA = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  type: 'object',
  properties: {
    name: { type: 'string', minLength: 2, pattern: '^a', description: 'who' },
    list: { type: 'array', items: { type: 'integer', minimum: 1 }, maxItems: 4 },
    kind: { const: 'x' },
  },
  required: ['name', 'list', 'kind'],
  additionalProperties: false,
};

async function collectWarnings(engine: InterfaceName, id: string): Promise<readonly string[]> {
  const provider = providerAt('https://models.example/v1', { name: 'p', interfaceName: engine });
  const job = createJob({
    model: { model: id, engine: 'provider', provider },
    json: { schema: SCHEMA },
  });
  return (await buildRequest(job, { provider, key: 'k', env: {} })).warnings;
}

describe('keywords of a schema that a client leaves out', () => {
  it('are reported, each once', async () => {
    const warnings = await collectWarnings('anthropic', 'claude-opus-4-8');
    expect(warnings).toEqual(
      ['minLength', 'pattern', 'minimum', 'maxItems'].map(
        keyword => `claude-opus-4-8 does not take the schema's ${keyword}: left out`,
      ),
    );
  });

  it('are not reported of a schema that is sent unchanged', async () => {
    expect(await collectWarnings('openai', 'tiny')).toEqual([]);
    expect(await collectWarnings('openai-responses', 'gpt-5')).toEqual([]);
  });

  it('are reported of Gemini, which would ignore them', async () => {
    for (const engine of ['google', 'vertexai'] as const) {
      expect(await collectWarnings(engine, 'gemini-2.5-flash')).toEqual(
        ['minLength', 'pattern'].map(
          keyword => `gemini-2.5-flash does not take the schema's ${keyword}: left out`,
        ),
      );
    }
  });
});

describe('what a prompt says of its schema', () => {
  it.each([
    [undefined, { name: 'output' }],
    [
      { name: 'person', description: 'who', strict: false },
      { name: 'person', description: 'who', strict: false },
    ],
  ])('goes to the provider: %j', async (schemaName, expectedSchema) => {
    const provider = providerAt('https://models.example/v1', {
      name: 'p',
      interfaceName: 'openai',
    });
    const job = createJob({
      model: { model: 'tiny', engine: 'provider', provider },
      json: { schema: SCHEMA, schemaName },
    });
    const { body } = await buildRequest(job, { provider, key: 'k', env: {} });
    const { response_format: format } = JSON.parse(Buffer.from(body ?? []).toString('utf8')) as {
      response_format: object;
    };

    expect(format).toMatchObject({ type: 'json_schema', json_schema: expectedSchema });
  });
});
