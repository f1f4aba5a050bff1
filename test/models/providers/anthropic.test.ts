import Anthropic from '@anthropic-ai/sdk';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import packageJson from '../../../package.json' with { type: 'json' };
import type { EngineResult } from '../../../src/models/engine.ts';
import { createEngines } from '../../../src/models/engines.ts';
import { png } from '../../support/png.ts';
import {
  FakeProvider,
  type ProviderAnswer,
  type ProviderHandler,
} from '../../support/providers/fake-provider.ts';
import {
  messageStream,
  messagesAnswer,
  messagesError,
  type StreamEnd,
} from '../../support/providers/messages-interface.ts';
import { createJob, type JobOptions, providerAt } from '../job.ts';

const KEY = 'sk-ant-secret-0123456789';
let provider: FakeProvider;

beforeAll(async () => {
  provider = await FakeProvider.start();
});

afterAll(() => provider.close());

const getOrigin = (): string => new URL(provider.baseUrl).origin;

function ask(
  job: JobOptions,
  ...answers: (ProviderAnswer | ProviderHandler)[]
): Promise<EngineResult> {
  provider.reset(...answers);
  const model = {
    model: 'anthropic/claude-9',
    id: 'claude-9',
    engine: 'provider',
    provider: providerAt(getOrigin(), {
      name: 'anthropic',
      interfaceName: 'anthropic',
      keyVariable: 'KEY',
    }),
    ...job.model,
  } as const;
  return createEngines({ dataDir: 'nowhere', env: { KEY } }).provider.run(
    createJob({ ...job, model }),
  );
}

const countPosts = (): number => provider.requests.filter(({ method }) => method === 'POST').length;

const expectFailure = (result: EngineResult): string => {
  expect(result.hasFailed).toBe(true);
  const last = result.outputs.at(-1);
  return last?.type === 'error' ? last.message : '';
};

describe('the double of the Messages interface', () => {
  const client = (): Anthropic =>
    new Anthropic({
      apiKey: KEY,
      baseURL: getOrigin(),
      maxRetries: 0,
      defaultHeaders: { 'anthropic-version': '2023-06-01' },
    });
  const request = {
    model: 'claude-9',
    max_tokens: 9,
    messages: [{ role: 'user', content: 'Hi' }],
  } as const;

  it("answers the provider's own package", async () => {
    provider.reset(messagesAnswer('Hello'));
    const answer = await client().messages.create({ ...request, messages: [...request.messages] });

    expect(answer.content).toEqual([{ type: 'text', text: 'Hello' }]);

    provider.reset(messageStream(['Hel', 'lo']));
    const stream = client().messages.stream({ ...request, messages: [...request.messages] });

    expect(await stream.finalText()).toBe('Hello');
    expect((await stream.finalMessage()).usage).toMatchObject({ output_tokens: 5 });

    provider.reset(messagesError(529, 'overloaded_error', 'Overloaded'));
    await expect(
      client().messages.create({ ...request, messages: [...request.messages] }),
    ).rejects.toMatchObject({
      status: 529,
      type: 'overloaded_error',
    });
  });
});

describe("a prompt's own tools", () => {
  it('are called in the answer, as JSON after the text', async () => {
    const call = { type: 'tool_use', id: 'toolu_1', name: 'look_up', input: { city: 'Oslo' } };
    const runOptions = { tools: [{ name: 'look_up', input_schema: { type: 'object' } }] };
    const answer = messagesAnswer([{ type: 'text', text: 'Wait.' }, call], {
      stop_reason: 'tool_use',
    });
    const { outputs } = await ask({ runOptions }, answer);

    expect(provider.body()).toMatchObject(runOptions);
    expect(outputs).toEqual([{ type: 'text', text: `Wait.\n\n${JSON.stringify(call)}` }]);
  });
});

describe('a request', () => {
  it('holds system parts apart, roles, pictures, and settings by their names there', async () => {
    const picture = png(2, 2);
    const template = '{{role "system"}}Be brief.{{role "user"}}See {{media url=p}} this';
    const runOptions = {
      temperature: '0.5',
      maxOutputTokens: 9,
      topK: 3,
      stopSequences: ['END'],
      seed: 1,
      serviceTier: 'auto',
      model: 'other',
    };

    const model = { id: 'claude-haiku-4-5' };
    const result = await ask(
      { template, images: [picture], runOptions, model },
      messagesAnswer('Bonjour'),
    );

    expect(result).toEqual({
      outputs: [{ type: 'text', text: 'Bonjour' }],
      tokens: 47,
      usage: { input: 42, output: 5, cached: 30, cacheWritten: 2 },
      warnings: ['claude-haiku-4-5 does not take seed: left out'],
      hasFailed: false,
    });

    expect(provider.requests[0]).toMatchObject({
      path: '/v1/messages',
      headers: { 'x-api-key': KEY, 'anthropic-version': '2023-06-01' },
    });
    expect(provider.requests[0]?.headers['user-agent']).toMatch(
      new RegExp(`^promptrun/${packageJson.version} ai-sdk`),
    );
    expect(provider.body()).toEqual({
      model: 'claude-haiku-4-5',
      max_tokens: 9,
      temperature: 0.5,
      top_k: 3,
      stop_sequences: ['END'],
      service_tier: 'auto',
      system: [{ type: 'text', text: 'Be brief.' }],
      messages: [
        {
          role: 'user',
          content: [
            { type: 'text', text: 'See ' },
            {
              type: 'image',
              source: { type: 'base64', media_type: 'image/png', data: picture.toString('base64') },
            },
            { type: 'text', text: ' this' },
          ],
        },
      ],
    });
  });

  it('leaves out what newer models do not take, and says so', async () => {
    const runOptions = { temperature: 0.5, topP: 0.9, topK: 3, reasoningEffort: 'low' };
    const { warnings, hasFailed } = await ask({ runOptions }, messagesAnswer('Bonjour'));

    expect(hasFailed).toBe(false);
    expect(warnings).toEqual([
      'claude-9 does not take temperature: left out',
      'claude-9 does not take topP: left out',
      'claude-9 does not take topK: left out',
    ]);
    expect(provider.body()).toMatchObject({ output_config: { effort: 'low' } });
  });

  it("asks for JSON in the prompt's schema from models that have structured outputs", async () => {
    const schema = {
      type: 'object',
      properties: { a: { type: 'string' } },
      additionalProperties: false,
    };
    await ask({ json: { schema } }, messagesAnswer('{}'));
    expect(provider.body()['output_config']).toEqual({ format: { type: 'json_schema', schema } });
  });

  it('asks for JSON by a tool from models that have none', async () => {
    const schema = {
      type: 'object',
      properties: { a: { type: 'string' } },
      additionalProperties: false,
    };

    const answer = messagesAnswer(
      [{ type: 'tool_use', id: 'x', name: 'json', input: { a: 'b' } }],
      {
        stop_reason: 'tool_use',
      },
    );
    const { outputs } = await ask(
      { json: { schema }, model: { id: 'claude-3-5-haiku-latest' } },
      answer,
    );

    expect(outputs).toEqual([{ type: 'text', text: '{"a":"b"}' }]);
    expect(provider.body()).toMatchObject({ tools: [{ name: 'json', input_schema: schema }] });
  });

  it("asks for JSON in words if it can't be asked for otherwise", async () => {
    const schema = {
      type: 'object',
      properties: { a: { type: 'string' } },
      additionalProperties: false,
    };
    await ask({ json: { schema }, model: { responseFormat: 'none' } }, messagesAnswer('{}'));

    expect(provider.body()).not.toHaveProperty('output_config');
    expect(JSON.stringify(provider.body()['system'])).toContain('JSON Schema');

    await ask({ json: {} }, messagesAnswer('{}'));
    expect(provider.body()).not.toHaveProperty('output_config');
    expect(JSON.stringify(provider.body()['system'])).toContain('JSON');
  });

  it('with only a system part sends it as the user message', async () => {
    await ask({ template: '{{role "system"}}Be brief.' }, messagesAnswer('Hi'));
    expect(provider.body()).toMatchObject({
      messages: [{ role: 'user', content: [{ type: 'text', text: 'Be brief.' }] }],
    });
  });
});

describe('an answer that is not whole', () => {
  it.each<[string, ProviderAnswer, RegExp]>([
    [
      'max_tokens',
      messagesAnswer('Once', { stop_reason: 'max_tokens' }),
      /cut the answer short at the token limit.*raise maxOutputTokens/,
    ],
    [
      'a full context',
      messagesAnswer('Once', { stop_reason: 'model_context_window_exceeded' }),
      /cut short: the model's context is full/,
    ],
    [
      'pause_turn',
      messagesAnswer('Once', { stop_reason: 'pause_turn' }),
      /cut short: the model paused/,
    ],
    [
      'a refusal',
      messagesAnswer('', { stop_reason: 'refusal', stop_details: { explanation: 'not that' } }),
      /refused: not that; it may have been paid for: change the prompt/,
    ],
    [
      'a tool',
      messagesAnswer([{ type: 'tool_use', name: 'look_up' }], { stop_reason: 'tool_use' }),
      /asked for the tool look_up/,
    ],
    [
      'thinking alone',
      messagesAnswer([{ type: 'thinking', thinking: 'hm' }]),
      /thought, but then answered without text/,
    ],
    ['nothing', messagesAnswer([]), /answered without text/],
    ['a web page', { body: '<html>' }, /web page/],
    [
      'an error within a success',
      { body: { type: 'error', error: { message: 'oh no' } } },
      /answered with an error: oh no/,
    ],
  ])('fails the run, says why, and is not requested again: %s', async (_, answer, message) => {
    const result = await ask({}, answer);
    expect(expectFailure(result)).toMatch(message);
    expect(countPosts()).toBe(1);
  });

  it('keeps its text and what it cost', async () => {
    const result = await ask({}, messagesAnswer('Once', { stop_reason: 'max_tokens' }));
    expect(result).toMatchObject({
      outputs: [{ text: 'Once' }, {}],
      usage: { input: 42, output: 5 },
    });
  });

  it.each([
    [400, 'invalid_request_error', 'bad field', /answered 400 bad field$/, true],
    [
      401,
      'authentication_error',
      `no such key ${KEY}`,
      /answered 401 no such key \*\*\*: it refuses the key in KEY/,
      true,
    ],
    [
      403,
      'permission_error',
      'Not yours.',
      /answered 403 Not yours\. The key in [A-Z_]+ may not use/,
      true,
    ],
    [413, 'request_too_large', 'too large', /answered 413 too large/, true],
    [402, 'billing_error', 'credit balance is too low', /quota of the account is used up/, true],
    [500, 'api_error', 'oops', /answered 500 oops: the fault is on its side/, false],
    [503, 'api_error', 'oops', /answered 503 oops/, false],
  ])(
    'with HTTP %i fails the run, says what to do, and is not requested again',
    async (status, type, text, message, isRefused) => {
      const result = await ask({}, messagesError(status, type, text));
      expect(expectFailure(result)).toMatch(message);
      expect(result.isRefused).toBe(isRefused);
      expect(countPosts()).toBe(1);
    },
  );

  it('with HTTP 404 names the models that the provider has, the nearest first', async () => {
    const models = { body: { data: [{ id: 'other-1' }, { id: 'claude-8' }] } };
    const result = await ask({}, messagesError(404, 'not_found_error', 'model: claude-9'), models);
    expect(expectFailure(result)).toMatch(
      /answered 404 model: claude-9: .*it has claude-8, other-1$/,
    );
  });

  it('names no ending of an address whose path promptrun adds', async () => {
    expect(expectFailure(await ask({}, { body: 'garbage' }))).toMatch(/: check its baseUrl$/);
    const result = await ask({}, messagesError(404, 'not_found_error', 'no'), {
      body: { data: [] },
    });
    expect(expectFailure(result)).toContain(": check its baseUrl, and the model's name: ");
  });

  it.each([429, 529])(
    'with HTTP %i is requested again three times, after the wait that it names, up to a minute',
    async status => {
      const waits: number[] = [];
      const sleep = async (ms: number): Promise<void> => void waits.push(ms);
      const busy = messagesError(status, 'overloaded_error', 'busy', { 'retry-after': '7' });

      expect(await ask({ sleep }, busy, busy, busy, messagesAnswer('At last'))).toMatchObject({
        hasFailed: false,
      });
      expect(waits).toEqual([7000, 7000, 7000]);

      expectFailure(await ask({ sleep }, busy));
      expect(countPosts()).toBe(4);

      expectFailure(
        await ask(
          { sleep },
          messagesError(status, 'overloaded_error', 'busy', { 'retry-after': '61' }),
        ),
      );
      expect(countPosts()).toBe(1);
    },
  );
});

describe('a stream', () => {
  it('is shown piece by piece', async () => {
    const pieces: string[] = [];
    const onText = (piece: string): void => void pieces.push(piece);
    const result = await ask({ onText }, messageStream(['Hel', 'lo \ud83d', '\ude00']));

    expect(pieces).toEqual(['Hel', 'lo ', '😀']);
    expect(result).toMatchObject({
      outputs: [{ text: 'Hello 😀' }],
      usage: { input: 42, output: 5, cached: 30, cacheWritten: 2 },
      hasFailed: false,
    });
    expect(provider.body()).toMatchObject({ stream: true });
  });

  it.each<[StreamEnd, RegExp]>([
    ['cut', /ended its answer before it was complete; it may have been paid for/],
    ['silent', /ended its answer before it was complete; it may have been paid for/],
    ['error', /answered with an error: Overloaded; it may have been paid for/],
  ])(
    'that ends %s is a failure with the text so far, and is never sent again',
    async (end, message) => {
      const result = await ask({ onText: () => {} }, messageStream(['Once', ' upon'], end));
      expect(expectFailure(result)).toMatch(message);
      expect(result.outputs[0]).toEqual({ type: 'text', text: 'Once upon' });
      expect(result.isRefused).toBe(false);
      expect(countPosts()).toBe(1);
    },
  );

  it('that is cut short says so', async () => {
    expect(
      expectFailure(await ask({ onText: () => {} }, messageStream(['x'], 'whole', 'max_tokens'))),
    ).toMatch(/cut the answer short/);
  });
});
