import { EventStreamCodec } from '@smithy/eventstream-codec';
import { fromUtf8, toUtf8 } from '@smithy/util-utf8';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { EngineResult } from '../../../src/models/engine.ts';
import { createEngines } from '../../../src/models/engines.ts';
import type { InterfaceName } from '../../../src/models/model-entry.ts';
import { png } from '../../support/png.ts';
import {
  FakeProvider,
  type ProviderAnswer,
  type ProviderHandler,
} from '../../support/providers/fake-provider.ts';
import { createJob, type JobOptions, providerAt } from '../job.ts';
import { EndlessAnswer } from './endless-answer.ts';

const MIB = 1024 * 1024;

let provider: FakeProvider;

beforeAll(async () => {
  provider = await FakeProvider.start('local');
});

afterAll(() => provider.close());

interface AskOptions extends JobOptions {
  readonly interfaceName: InterfaceName;
  readonly id: string;
}

function ask(
  { interfaceName, id, ...job }: AskOptions,
  ...answers: (ProviderAnswer | ProviderHandler)[]
): Promise<EngineResult> {
  provider.reset(...answers);
  const { origin } = new URL(provider.baseUrl);
  const baseUrl = interfaceName === 'bedrock' ? origin : `${origin}/v1`;
  const model = {
    model: `p/${id}`,
    id,
    engine: 'provider',
    provider: providerAt(baseUrl, { name: 'p', interfaceName, keyVariable: 'KEY' }),
    ...job.model,
  } as const;

  return createEngines({ dataDir: 'nowhere', env: { KEY: 'k' } }).provider.run(
    createJob({ ...job, model }),
  );
}

/** Answers with server-sent events, and sends nothing after the last. */
const sendEvents =
  (...events: object[]): ProviderHandler =>
  response => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    for (const event of events) response.write(`data: ${JSON.stringify(event)}\n\n`);
    response.end();
  };

type AmazonEvent = [type: string, value: object];

/** Answers with events in Amazon's binary form. */
const sendAmazonFrames =
  (...events: AmazonEvent[]): ProviderHandler =>
  response => {
    const codec = new EventStreamCodec(toUtf8, fromUtf8);
    response.writeHead(200, { 'content-type': 'application/vnd.amazon.eventstream' });
    const frames = events.map(([type, value]) =>
      codec.encode({
        headers: {
          ':message-type': {
            type: 'string',
            value: type.endsWith('Exception') ? 'exception' : 'event',
          },
          [type.endsWith('Exception') ? ':exception-type' : ':event-type']: {
            type: 'string',
            value: type,
          },
        },
        body: fromUtf8(JSON.stringify(value)),
      }),
    );

    // Pieces of seven bytes end anywhere within the frames.
    const pieceLength = 7;
    const bytes = Buffer.concat(frames);
    for (let start = 0; start < bytes.length; start += pieceLength) {
      response.write(bytes.subarray(start, start + pieceLength));
    }

    response.end();
  };

const getLastError = ({ outputs }: EngineResult): string => {
  const output = outputs.at(-1);
  return output?.type === 'error' ? output.message : '';
};

/** Expects this text alone; doesn't print the long texts if they differ. */
function expectOneText(outputs: EngineResult['outputs'], text: string): void {
  expect(outputs).toHaveLength(1);
  const [output] = outputs;
  expect(output?.type === 'text' && output.text === text).toBe(true);
}

describe('an answer of Responses', () => {
  const target = { interfaceName: 'openai-responses', id: 'gpt-5' } as const;

  const completeResponse = (more: object = {}): object => ({
    id: 'r',
    object: 'response',
    created_at: 1,
    model: 'gpt-5',
    status: 'completed',
    service_tier: 'default',
    error: null,
    incomplete_details: null,
    output: [
      { type: 'reasoning', id: 'a', summary: [] },
      { type: 'something_new', id: 'b' },
      {
        type: 'message',
        id: 'm',
        content: [{ type: 'output_text', text: 'Hello', annotations: [] }],
      },
    ],
    usage: {
      input_tokens: 10,
      input_tokens_details: { cached_tokens: 4 },
      output_tokens: 6,
      output_tokens_details: { reasoning_tokens: 5 },
      total_tokens: 16,
    },
    ...more,
  });

  it('is read, though it has parts of unknown types', async () => {
    expect(await ask(target, { body: completeResponse() })).toMatchObject({
      outputs: [{ type: 'text', text: 'Hello' }],
      usage: { input: 10, output: 6, cached: 4, tier: 'default' },
      hasFailed: false,
    });
    expect(provider.requests[0]?.path).toBe('/v1/responses');
    expect(provider.body()).not.toHaveProperty('include');
  });

  it('is not stored by the provider', async () => {
    await ask(target, { body: completeResponse() });
    expect(provider.body()).toMatchObject({ store: false });
  });

  it('is stored by the provider if the run asks for that', async () => {
    await ask({ ...target, runOptions: { store: true } }, { body: completeResponse() });
    expect(provider.body()).toMatchObject({ store: true });
  });

  it('is one, even if several were asked for, and a warning says so', async () => {
    const { warnings } = await ask(
      { ...target, runOptions: { n: 2 } },
      { body: completeResponse() },
    );
    expect(warnings).toEqual(['gpt-5 does not take n: left out']);
    expect(provider.body()).not.toHaveProperty('n');
  });

  it.each([
    {
      what: 'is cut off at its limit',
      fields: { status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' } },
      message: 'token limit',
    },
    {
      what: 'is filtered',
      fields: { status: 'incomplete', incomplete_details: { reason: 'content_filter' } },
      message: 'content filter',
    },
    {
      what: 'is an error',
      fields: { status: 'failed', error: { code: 'server_error', message: 'oh no' } },
      message: 'error: oh no',
    },
    { what: 'is cancelled', fields: { status: 'cancelled' }, message: 'ended its answer' },
  ])('fails the run if it $what', async ({ fields, message }) => {
    const result = await ask(target, { body: completeResponse(fields) });
    expect(result.hasFailed).toBe(true);
    expect(getLastError(result)).toContain(message);
    expect(getLastError(result)).toContain('it may have been paid for');
  });

  describe('as a stream', () => {
    const onText = (): void => {};
    const deltas = ['Hel', 'lo'].map(delta => ({
      type: 'response.output_text.delta',
      delta,
      item_id: 'm',
    }));

    it('is shown piece by piece', async () => {
      const pieces: string[] = [];
      const completedEvent = { type: 'response.completed', response: completeResponse() };
      const result = await ask(
        { ...target, onText: piece => void pieces.push(piece) },
        sendEvents(...deltas, completedEvent),
      );
      expect(pieces).toEqual(['Hel', 'lo']);
      expect(result).toMatchObject({
        outputs: [{ text: 'Hello' }],
        usage: { output: 6 },
        hasFailed: false,
      });
    });

    it('fails the run, which keeps the text, without its last event', async () => {
      const result = await ask({ ...target, onText }, sendEvents(...deltas));
      expect(result).toMatchObject({
        outputs: [{ text: 'Hello' }, { type: 'error' }],
        hasFailed: true,
      });
      expect(getLastError(result)).toContain('ended its answer');
    });

    it('fails the run if it ends in an error', async () => {
      const errorEvent = { type: 'error', message: 'oh no' };
      const result = await ask({ ...target, onText }, sendEvents(...deltas, errorEvent));
      expect(getLastError(result)).toContain('error: oh no; it may have been paid for');
    });
  });

  it('may be JSON though a stream was requested', async () => {
    const pieces: string[] = [];
    const result = await ask(
      { ...target, onText: piece => void pieces.push(piece) },
      { body: completeResponse() },
    );
    expect(pieces).toEqual(['Hello']);
    expect(result.hasFailed).toBe(false);
  });
});

describe('an answer of generateContent', () => {
  const target = { interfaceName: 'google', id: 'gemini-2.5-flash' } as const;

  const chunk = (parts: object[], more: object = {}, usage: object = {}): object => ({
    candidates: [{ index: 0, content: { role: 'model', parts }, ...more }],
    usageMetadata: { promptTokenCount: 10, ...usage },
  });

  it('counts its thoughts, and keeps them out of the text', async () => {
    const body = chunk(
      [{ text: 'hm', thought: true }, { text: 'Hello' }],
      { finishReason: 'STOP' },
      {
        candidatesTokenCount: 2,
        thoughtsTokenCount: 5,
        cachedContentTokenCount: 4,
        totalTokenCount: 17,
      },
    );
    expect(await ask(target, { body })).toMatchObject({
      outputs: [{ type: 'text', text: 'Hello' }],
      usage: { input: 10, output: 7, cached: 4 },
    });
  });

  it('may hold several texts, and be asked for with options that only this interface has', async () => {
    const candidates = ['One', 'Two'].map((text, index) => ({
      index,
      content: { parts: [{ text }] },
      finishReason: 'STOP',
    }));

    const runOptions = { n: '2', mediaResolution: 'MEDIA_RESOLUTION_LOW', labels: { a: 'b' } };
    const onText = (): void => {};
    const { outputs } = await ask({ ...target, runOptions, onText }, { body: { candidates } });

    expect(outputs).toEqual([
      { type: 'text', text: 'One' },
      { type: 'text', text: 'Two' },
    ]);
    expect(provider.requests[0]?.path).toBe('/v1/models/gemini-2.5-flash:generateContent');
    expect(provider.body()).toMatchObject({
      generationConfig: { candidateCount: 2, mediaResolution: 'MEDIA_RESOLUTION_LOW' },
      labels: { a: 'b' },
    });
  });

  it.each([
    {
      what: 'is cut off at its limit',
      body: chunk([{ text: 'x' }], { finishReason: 'MAX_TOKENS' }),
      message: 'token limit',
    },
    {
      what: 'is filtered',
      body: chunk([{ text: 'x' }], { finishReason: 'PROHIBITED_CONTENT' }),
      message: 'content filter',
    },
    {
      what: 'is a blocked prompt',
      body: { promptFeedback: { blockReason: 'SAFETY' } },
      message: 'refused: the prompt is blocked (SAFETY)',
    },
    {
      what: 'is an error',
      body: { error: { code: 503, message: 'oh no' } },
      message: 'error: oh no',
    },
  ])('fails the run if it $what', async ({ body, message }) => {
    const result = await ask(target, { body });
    expect(result.hasFailed).toBe(true);
    expect(getLastError(result)).toContain(message);
  });

  it('is complete if its reason to stop is unknown, and a warning names the reason', async () => {
    const { hasFailed, warnings } = await ask(target, {
      body: chunk([{ text: 'x' }], { finishReason: 'TIRED' }),
    });
    expect(hasFailed).toBe(false);
    expect(warnings).toEqual([expect.stringContaining('(TIRED)') as string]);
  });

  describe('as a stream', () => {
    const onText = (): void => {};
    const firstEvent = chunk([{ text: 'Hel' }]);
    const lastEvent = chunk(
      [{ text: 'lo' }],
      { finishReason: 'STOP' },
      { candidatesTokenCount: 2 },
    );

    it('is the text of its events', async () => {
      const result = await ask({ ...target, onText }, sendEvents(firstEvent, lastEvent));
      expect(result).toMatchObject({ outputs: [{ text: 'Hello' }], hasFailed: false });
      expect(provider.requests[0]?.path).toContain(':streamGenerateContent');
    });

    it('fails the run without a reason to stop', async () => {
      const result = await ask({ ...target, onText }, sendEvents(firstEvent));
      expect(result.hasFailed).toBe(true);
      expect(getLastError(result)).toContain('ended its answer');
    });
  });

  it('may be an image', async () => {
    const data = png(2, 2).toString('base64');
    const body = chunk([{ inlineData: { mimeType: 'image/png', data } }], { finishReason: 'STOP' });
    const model = { modality: 'image', id: 'gemini-2.5-flash-image' } as const;
    const result = await ask({ ...target, model, runOptions: { aspectRatio: '16:9' } }, { body });

    expect(getLastError(result)).toBe('');
    expect(result.outputs).toMatchObject([{ type: 'image', mediaType: 'image/png' }]);
    expect(provider.body()).toMatchObject({
      generationConfig: {
        responseModalities: ['TEXT', 'IMAGE'],
        imageConfig: { aspectRatio: '16:9' },
      },
    });
  });
});

describe('Bedrock', () => {
  const nova = { interfaceName: 'bedrock', id: 'amazon.nova-pro-v1:0' } as const;
  const claude = {
    interfaceName: 'bedrock',
    id: 'anthropic.claude-haiku-4-5-20251001-v1:0',
  } as const;

  it('is asked by Converse', async () => {
    const body = {
      output: { message: { role: 'assistant', content: [{ text: 'Hello' }] } },
      stopReason: 'end_turn',
      usage: {
        inputTokens: 6,
        outputTokens: 2,
        totalTokens: 12,
        cacheReadInputTokens: 3,
        cacheWriteInputTokens: 1,
      },
    };
    expect(await ask(nova, { body })).toMatchObject({
      outputs: [{ type: 'text', text: 'Hello' }],
      usage: { input: 10, output: 2, cached: 3, cacheWritten: 1 },
    });
    expect(provider.requests[0]?.path).toBe('/model/amazon.nova-pro-v1%3A0/converse');
    expect(provider.requests[0]?.headers.authorization).toBe('Bearer k');
  });

  it('takes a schema as a tool that must be called', async () => {
    const toolUse = { toolUseId: 'x', name: 'json', input: { a: 'b' } };
    const body = {
      output: { message: { role: 'assistant', content: [{ toolUse }] } },
      stopReason: 'tool_use',
      usage: { inputTokens: 6, outputTokens: 2, totalTokens: 8 },
    };

    const schema = { type: 'object', properties: { a: { type: 'string' } } };
    expect((await ask({ ...nova, json: { schema } }, { body })).outputs).toEqual([
      { type: 'text', text: '{"a":"b"}' },
    ]);
  });

  describe('by a stream of Converse', () => {
    const onText = (): void => {};
    const text = ['Hel', 'lo'].map(
      (piece): AmazonEvent => [
        'contentBlockDelta',
        { contentBlockIndex: 0, delta: { text: piece } },
      ],
    );
    const stop: AmazonEvent = ['messageStop', { stopReason: 'end_turn' }];
    const counts: AmazonEvent = ['metadata', { usage: { inputTokens: 6, outputTokens: 2 } }];

    it('answers with text and counts', async () => {
      const result = await ask({ ...nova, onText }, sendAmazonFrames(...text, stop, counts));
      expect(result).toMatchObject({
        outputs: [{ text: 'Hello' }],
        usage: { input: 6, output: 2 },
        hasFailed: false,
      });
    });

    it('fails the run without its counts', async () => {
      const result = await ask({ ...nova, onText }, sendAmazonFrames(...text, stop));
      expect(result.hasFailed).toBe(true);
      expect(getLastError(result)).toContain('ended its answer');
    });

    it('fails the run if it ends in an exception', async () => {
      const exception: AmazonEvent = ['throttlingException', { message: 'slow down' }];
      const result = await ask({ ...nova, onText }, sendAmazonFrames(...text, exception));
      expect(result.hasFailed).toBe(true);
      expect(getLastError(result)).toContain('error: slow down');
    });
  });

  it("asks Claude in Anthropic's own form", async () => {
    const onText = (): void => {};
    const claudeEvents = [
      { type: 'message_start', message: { usage: { input_tokens: 6, output_tokens: 1 } } },
      { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Hello' } },
      { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 2 } },
      { type: 'message_stop' },
    ].map(
      (event): AmazonEvent => [
        'chunk',
        { bytes: Buffer.from(JSON.stringify(event)).toString('base64') },
      ],
    );

    expect(await ask({ ...claude, onText }, sendAmazonFrames(...claudeEvents))).toMatchObject({
      outputs: [{ text: 'Hello' }],
      usage: { input: 6, output: 2 },
      hasFailed: false,
    });

    expect(provider.requests[0]?.path).toMatch(/\/invoke-with-response-stream$/);
    expect(provider.body()).toMatchObject({ anthropic_version: 'bedrock-2023-05-31' });
  });
});

describe('an answer of Chat Completions', () => {
  const target = { interfaceName: 'openai', id: 'tiny' } as const;

  const choice = (content: string, more: object = {}): object => ({
    message: { role: 'assistant', content },
    finish_reason: 'stop',
    ...more,
  });

  it('becomes an output for each of its choices, and is not streamed if it has several', async () => {
    const choices = ['One', 'Two'].map((text, index) => choice(text, { index }));
    const onText = (): void => {};
    const { outputs } = await ask(
      { ...target, runOptions: { n: 2 }, onText },
      { body: { choices } },
    );

    expect(outputs).toEqual([
      { type: 'text', text: 'One' },
      { type: 'text', text: 'Two' },
    ]);
    expect(provider.body()).toMatchObject({ n: 2 });
    expect(provider.body()).not.toHaveProperty('stream');
  });

  it('may have fewer choices than were asked for, and a warning says so', async () => {
    const { outputs, warnings } = await ask(
      { ...target, runOptions: { n: 2 } },
      { body: { choices: [choice('One')] } },
    );
    expect(outputs).toEqual([{ type: 'text', text: 'One' }]);
    expect(warnings).toEqual(['tiny returned 1 of the 2 requested answers']);
  });

  it.each(['model_length', 'insufficient_system_resource', 'length'])(
    'fails if it is cut off by %s',
    async reason => {
      const result = await ask(target, {
        body: { choices: [choice('x', { finish_reason: reason })] },
      });
      expect(result).toMatchObject({
        hasFailed: true,
        outputs: [{ text: 'x' }, { type: 'error' }],
      });
      expect(getLastError(result)).toContain(reason);
      expect(getLastError(result)).toContain('it may have been paid for');
    },
  );

  it('counts thinking that is only in the total', async () => {
    const usage = { prompt_tokens: 10, completion_tokens: 2, total_tokens: 19 };
    const { usage: readUsage } = await ask(target, { body: { choices: [choice('x')], usage } });
    expect(readUsage).toMatchObject({ input: 10, output: 9 });
  });

  it.each([
    { field: { cost: 0.25 }, dollars: 0.25 },
    { field: { cost_in_usd_ticks: 10_000_000_000 }, dollars: 1 },
  ])("has the provider's own figure of what it cost: $field", async ({ field, dollars }) => {
    const usage = { prompt_tokens: 1, completion_tokens: 1, ...field };
    const result = await ask(target, { body: { choices: [choice('x')], usage } });
    expect(result.usage?.dollars).toBe(dollars);
  });

  describe('as a stream', () => {
    const onText = (): void => {};
    const delta = { choices: [{ index: 0, delta: { content: 'x' }, finish_reason: 'stop' }] };

    it('fails the run if it ends without [DONE], even after a finish_reason', async () => {
      const result = await ask({ ...target, onText }, sendEvents(delta));
      expect(getLastError(result)).toContain('ended its answer');
    });

    it('fails the run if it ends in an error, even after a finish_reason', async () => {
      const errorEvent = { error: { message: 'oh no' } };
      const result = await ask({ ...target, onText }, sendEvents(delta, errorEvent));
      expect(getLastError(result)).toContain('error: oh no');
    });
  });

  it('is not read on once a line of its stream is too long', async () => {
    // A line without end, in pieces of one KiB: 8 MiB are read, and some wait in buffers.
    const answer = new EndlessAnswer('text/event-stream', Buffer.alloc(1024, 'a'), 100 * MIB);
    const result = await ask({ ...target, onText: () => {} }, answer.handler);
    expect(getLastError(result)).toContain('a line of its stream is larger than 8 MiB');
    expect(answer.sentBytes).toBeLessThan(20 * MIB);
  });

  const chatAnswer = (content: string): ProviderAnswer => ({
    body: { choices: [{ message: { content } }] },
  });

  const chatStream = (contents: readonly string[], type = 'text/event-stream'): ProviderAnswer => {
    const pieces = contents.map(content => ({ choices: [{ delta: { content } }] }));
    const all = [...pieces, { choices: [{ delta: {}, finish_reason: 'stop' }] }];
    const body = all.map(event => `data: ${JSON.stringify(event)}\n\n`).join('');
    return { headers: { 'content-type': type }, body: `${body}data: [DONE]\n\n` };
  };

  const longText = 'é'.repeat(4 * MIB);

  it.each([
    { form: 'JSON', answer: chatAnswer(longText) },
    {
      form: 'a stream',
      answer: chatStream([longText.slice(0, 2 * MIB), longText.slice(2 * MIB)]),
    },
  ])('may hold 8 MiB of text, counted in UTF-8, as $form', async ({ answer }) => {
    const { outputs, hasFailed } = await ask({ ...target, onText: () => {} }, answer);
    expect(hasFailed).toBe(false);
    expectOneText(outputs, longText);
  });

  it('fails with more text, names the limit and keeps the text that had come', async () => {
    const half = 'a'.repeat(4 * MIB);
    const shownLengths: number[] = [];
    const onText = (piece: string): void => void shownLengths.push(piece.length);
    const result = await ask({ ...target, onText }, chatStream([half, half, 'b']));

    expect(result.hasFailed).toBe(true);
    expect(getLastError(result)).toContain('returned more than 8 MiB of text');
    expectOneText(result.outputs.slice(0, -1), half + half);
    expect(shownLengths).toEqual([4 * MIB, 4 * MIB]);
  });

  it('fails with more text as JSON, of which it keeps nothing', async () => {
    const result = await ask(target, chatAnswer('a'.repeat(8 * MIB + 1)));
    expect(result.outputs.map(({ type }) => type)).toEqual(['error']);
    expect(getLastError(result)).toContain('returned more than 8 MiB of text');
  });

  it('is read as a stream even if its type does not say that it is one', async () => {
    const contents = ['abc', 'd'.repeat(200_000), 'é'];
    const { outputs } = await ask(
      { ...target, onText: () => {} },
      chatStream(contents, 'text/plain'),
    );
    expectOneText(outputs, contents.join(''));
  });
});
