import { describe, expect, it } from 'vitest';
import { CHAT_DIALECTS, type ChatDialect } from '../../support/providers/chat-dialects.ts';
import type { ProviderAnswer } from '../../support/providers/fake-provider.ts';
import { UNSUPPORTED } from '../../support/providers/real-errors.ts';
import { findRealRefusal } from '../../support/providers/real-refusal.ts';

// The doubles of the providers are checked here against errors that the real services sent to
// others.

const HEADERS = {
  'content-type': 'application/json',
  'x-api-key': 'k',
  authorization: 'Bearer k',
  'x-goog-api-key': 'k',
  'anthropic-version': '2023-06-01',
};

/**
 * Returns the dialect in which a provider speaks Chat Completions. Providers with an interface of
 * their own are recognised by the path, so that `local` does for them.
 */
function findDialect(provider: string): ChatDialect {
  const dialect = provider === 'gemini-openai' ? 'gemini' : provider;
  return Object.keys(CHAT_DIALECTS).find((key): key is ChatDialect => key === dialect) ?? 'local';
}

function post(
  path: string,
  body: unknown,
  {
    dialect = 'local',
    headers = HEADERS,
  }: { dialect?: ChatDialect; headers?: Record<string, string> } = {},
): ProviderAnswer | undefined {
  return findRealRefusal({ method: 'POST', path, headers, text: JSON.stringify(body) }, dialect);
}

describe('a double refuses in the words of the real service', () => {
  const refusals = UNSUPPORTED.flatMap(({ double, ...refusal }) =>
    double === undefined ? [] : [{ ...refusal, double }],
  );
  it.each(refusals)('$provider $status $says', ({ provider, double, status, body }) => {
    const answer = post(double.path, double.body, { dialect: findDialect(provider) });
    expect(answer).toMatchObject({ status, body: JSON.parse(body) as object });
  });
});

describe('a double refuses', () => {
  const messages = [{ role: 'user', content: 'Hi' }];

  it('a strict schema with an optional property, as OpenAI does', () => {
    const properties = {
      a: { type: 'object', properties: { b: {} }, additionalProperties: false },
    };
    const schema = { type: 'object', properties, required: ['a'], additionalProperties: false };
    const format = { name: 'x', strict: true, schema };
    const chat = {
      model: 'gpt-4o',
      messages,
      response_format: { type: 'json_schema', json_schema: format },
    };

    const words =
      "Invalid schema for response_format 'x': In context=('properties', 'a'), 'required' is required to be supplied and to be an array including every key in properties. Missing 'b'.";
    expect(post('/v1/chat/completions', chat, { dialect: 'openai' })).toMatchObject({
      body: { error: { message: words, param: 'response_format' } },
    });

    const text = { format: { type: 'json_schema', ...format } };
    expect(post('/v1/responses', { model: 'gpt-5', input: 'Hi', text })).toMatchObject({
      body: { error: { message: words, param: 'text.format.schema' } },
    });
  });

  it('a picture for a model that takes text alone, as DeepSeek does', () => {
    const picture = { type: 'image_url', image_url: { url: 'data:image/png;base64,AA==' } };
    const body = {
      model: 'deepseek-v4-pro',
      messages: [...messages, { role: 'user', content: [picture] }],
    };
    expect(post('/v1/chat/completions', body, { dialect: 'deepseek' })).toMatchObject({
      status: 400,
      body: {
        error: {
          message: expect.stringMatching(
            /^Failed to deserialize the JSON body into the target type: messages\[1\]: unknown variant `image_url`, expected `text` at line 1 column \d+$/,
          ) as string,
        },
      },
    });
  });

  it.each([
    ['xai', 'grok-2', 'top_k'],
    ['deepseek', 'deepseek-chat', 'seed'],
  ] as const)("a setting that is missing from %s's API, for %s: %s", (dialect, model, name) => {
    const body = { model, messages, [name]: 3 };
    expect(post('/v1/chat/completions', body, { dialect })).toMatchObject({ status: 400 });
  });

  it.each(['openai', 'groq', 'mistral', 'local'] as const)(
    'a header that holds no key: %s',
    dialect => {
      const headers = { ...HEADERS, authorization: 'Bearer ' };
      const answer = post(
        '/v1/chat/completions',
        { model: 'gpt-4o', messages },
        { dialect, headers },
      );
      expect(answer?.status).toBe(401);
    },
  );

  it.each([{ 'anthropic-version': '2026-10-21' }, { 'anthropic-version': '' }])(
    'another version of Messages than the pinned one: %j',
    header => {
      const body = { model: 'claude-haiku-4-5', max_tokens: 9, messages };
      expect(post('/v1/messages', body)).toBeUndefined();
      expect(post('/v1/messages', body, { headers: { ...HEADERS, ...header } })?.status).toBe(400);
    },
  );

  it.each<[string, object]>([
    ['/v1/responses', { model: 'gpt-5', input: 'Hi', seed: 1 }],
    [
      '/v1/responses',
      {
        model: 'gpt-5',
        input: 'Hi',
        text: { format: { type: 'json_schema', name: 'x', schema: {}, json: {} } },
      },
    ],
    [
      '/v1/chat/completions',
      {
        model: 'gpt-5',
        messages: [{ role: 'user', content: [{ type: 'text', text: 'x', detail: 'low' }] }],
      },
    ],
    ['/v1/messages', { model: 'claude-haiku-4-5', max_tokens: 9, messages, seed: 1 }],
    [
      '/v1beta/models/gemini-3-pro:generateContent',
      { contents: [{ parts: [{ text: 'Hi' }] }], generationConfig: { top_k: 1 } },
    ],
    [
      '/model/amazon.nova-pro/converse',
      { messages: [{ role: 'user', content: [{ text: 'Hi' }] }], inferenceConfig: { topK: 1 } },
    ],
  ])('names that its interface does not know, however deep they are: %s %j', (path, body) => {
    const answer = post(path, body, { dialect: 'openai' });
    expect(answer?.status).toBe(400);
    expect(JSON.stringify(answer?.body)).toMatch(/unknown|Extra inputs|extraneous/i);
  });
});

it('a double takes what the real service takes', () => {
  const body = { model: 'tiny', messages: [{ role: 'user', content: 'Hi' }], top_k: 5 };
  expect(post('/v1/chat/completions', body)).toBeUndefined();
});
