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

/** Returns the refusal of the double; undefined means that it takes the request. */
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

const MESSAGES = [{ role: 'user', content: 'Hi' }];

describe('a double refuses in the words of the real service', () => {
  const refusals = UNSUPPORTED.flatMap(({ double, ...refusal }) =>
    double === undefined ? [] : [{ ...refusal, double }],
  );

  it.each(refusals)('$provider $status $says', ({ provider, double, status, body }) => {
    const answer = post(double.path, double.body, { dialect: findDialect(provider) });
    expect(answer).toMatchObject({ status, body: JSON.parse(body) as object });
  });
});

describe('a double refuses a strict schema with an optional property, as OpenAI does,', () => {
  const format = {
    name: 'x',
    strict: true,
    schema: {
      type: 'object',
      properties: { a: { type: 'object', properties: { b: {} }, additionalProperties: false } },
      required: ['a'],
      additionalProperties: false,
    },
  };
  const message =
    "Invalid schema for response_format 'x': In context=('properties', 'a'), 'required' is required to be supplied and to be an array including every key in properties. Missing 'b'.";

  it('of Chat Completions', () => {
    const body = {
      model: 'gpt-4o',
      messages: MESSAGES,
      response_format: { type: 'json_schema', json_schema: format },
    };
    expect(post('/v1/chat/completions', body, { dialect: 'openai' })).toMatchObject({
      body: { error: { message, param: 'response_format' } },
    });
  });

  it('of Responses', () => {
    const text = { format: { type: 'json_schema', ...format } };
    expect(post('/v1/responses', { model: 'gpt-5', input: 'Hi', text })).toMatchObject({
      body: { error: { message, param: 'text.format.schema' } },
    });
  });
});

describe('a double refuses', () => {
  it('an image for a model that takes text alone, as DeepSeek does', () => {
    const image = { type: 'image_url', image_url: { url: 'data:image/png;base64,AA==' } };
    const body = {
      model: 'deepseek-v4-pro',
      messages: [...MESSAGES, { role: 'user', content: [image] }],
    };
    expect(post('/v1/chat/completions', body, { dialect: 'deepseek' })).toMatchObject({
      status: 400,
      body: {
        error: {
          message:
            'Failed to deserialize the JSON body into the target type: messages[1]: unknown variant `image_url`, expected `text` at line 1 column 169',
        },
      },
    });
  });

  it.each([
    { dialect: 'xai', model: 'grok-2', option: 'top_k' },
    { dialect: 'deepseek', model: 'deepseek-chat', option: 'seed' },
  ] as const)("$option, which $dialect's API does not have", ({ dialect, model, option }) => {
    const body = { model, messages: MESSAGES };
    expect(post('/v1/chat/completions', body, { dialect })).toBeUndefined();
    expect(post('/v1/chat/completions', { ...body, [option]: 3 }, { dialect })).toMatchObject({
      status: 400,
    });
  });

  it.each(['openai', 'groq', 'mistral', 'local'] as const)(
    'an authorization that holds no key: %s',
    dialect => {
      const headers = { ...HEADERS, authorization: 'Bearer ' };
      const body = { model: 'gpt-4o', messages: MESSAGES };
      const answer = post('/v1/chat/completions', body, { dialect, headers });
      expect(answer?.status).toBe(401);
    },
  );

  it.each(['2026-10-21', ''])('another version of Messages than the pinned one: "%s"', version => {
    const body = { model: 'claude-haiku-4-5', max_tokens: 9, messages: MESSAGES };
    const headers = { ...HEADERS, 'anthropic-version': version };
    expect(post('/v1/messages', body, { headers })?.status).toBe(400);
  });

  it.each([
    {
      what: 'an option of Responses',
      path: '/v1/responses',
      body: { model: 'gpt-5', input: 'Hi', seed: 1 },
      words: 'Unknown parameter',
    },
    {
      what: 'a field within the format of Responses',
      path: '/v1/responses',
      body: {
        model: 'gpt-5',
        input: 'Hi',
        text: { format: { type: 'json_schema', name: 'x', schema: {}, json: {} } },
      },
      words: 'Unknown parameter',
    },
    {
      what: 'a field within a message of Chat Completions',
      path: '/v1/chat/completions',
      body: {
        model: 'gpt-5',
        messages: [{ role: 'user', content: [{ type: 'text', text: 'x', detail: 'low' }] }],
      },
      words: 'Unknown parameter',
    },
    {
      what: 'an option of Messages',
      path: '/v1/messages',
      body: { model: 'claude-haiku-4-5', max_tokens: 9, messages: MESSAGES, seed: 1 },
      words: 'Extra inputs',
    },
    {
      what: 'an option of generateContent',
      path: '/v1beta/models/gemini-3-pro:generateContent',
      body: { contents: [{ parts: [{ text: 'Hi' }] }], generationConfig: { top_k: 1 } },
      words: 'Unknown name',
    },
    {
      what: 'an option of Converse',
      path: '/model/amazon.nova-pro/converse',
      body: {
        messages: [{ role: 'user', content: [{ text: 'Hi' }] }],
        inferenceConfig: { topK: 1 },
      },
      words: 'extraneous',
    },
  ])('$what that the interface does not know', ({ path, body, words }) => {
    const answer = post(path, body, { dialect: 'openai' });
    expect(answer?.status).toBe(400);
    expect(JSON.stringify(answer?.body)).toContain(words);
  });
});

describe('a double takes what the real service takes:', () => {
  it('top_k at a local server', () => {
    const body = { model: 'tiny', messages: MESSAGES, top_k: 5 };
    expect(post('/v1/chat/completions', body)).toBeUndefined();
  });

  it('the pinned version of Messages', () => {
    const body = { model: 'claude-haiku-4-5', max_tokens: 9, messages: MESSAGES };
    expect(post('/v1/messages', body)).toBeUndefined();
  });
});
