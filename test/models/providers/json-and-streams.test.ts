import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { TextPiece } from '../../../src/service/runs/execution/text-feed.ts';
import {
  chatAnswer,
  type ProviderAnswer,
  type ProviderHandler,
} from '../../support/providers/fake-provider.ts';
import {
  createDelta,
  prompt,
  type Run,
  type StreamEnd,
  streamEvents,
  useProvider,
} from './provider-of-tests.ts';

const { provider, service, call, run, runChatModel } = useProvider();

describe('an answer that must be JSON', () => {
  const source = prompt('model: chat-model\noutput: {schema: {date: string, sum?: number}}');

  it('is taken out of its code fence, and is the output of the run', async () => {
    const { runStatus, outputs } = await run(source, [
      chatAnswer('```json\n{"date": "today"}\n```'),
    ]);
    expect(runStatus).toBe('succeeded');
    expect(outputs).toEqual([{ type: 'text', data: '{"date": "today"}' }]);
  });

  it('fails the run if it is not JSON, with the text as it came', async () => {
    const { runStatus, outputs } = await run(source, [chatAnswer('It was today.')]);
    expect(runStatus).toBe('failed');
    expect(outputs).toEqual([
      { type: 'text', data: 'It was today.' },
      { type: 'error', data: expect.stringContaining('not JSON') as string },
    ]);
  });

  it('fails the run if it does not match the schema, with the text and the place of the fault', async () => {
    const { runStatus, outputs } = await run(source, [chatAnswer('{"date": 5}')]);
    expect(runStatus).toBe('failed');
    expect(outputs).toEqual([
      { type: 'text', data: '{"date": 5}' },
      { type: 'error', data: expect.stringContaining('"/date"') as string },
    ]);
  });
});

describe('text as it comes', () => {
  async function runAndWatch(
    source: string,
    answers: (ProviderAnswer | ProviderHandler)[],
    key: string = randomUUID(),
  ): Promise<[TextPiece[], Run]> {
    const pieces: TextPiece[] = [];
    const stop = service().inProcessRuns.onText(piece => pieces.push(piece));
    try {
      return [pieces, await run(source, answers, { key })];
    } finally {
      stop();
    }
  }

  it('is shown piece by piece, and is exactly the later output of the run', async () => {
    // The emoji is one character of two UTF-16 units, which come apart.
    const events = [
      createDelta('Hel'),
      createDelta('lo \ud83d'),
      createDelta('\ude00', { finish_reason: 'stop' }),
      { choices: [], usage: { total_tokens: 7 } },
    ];
    const [pieces, { outputs, runStatus, tokens, runId }] = await runAndWatch(
      prompt('model: chat-model'),
      [streamEvents(events)],
      'key-of-the-run',
    );

    expect(provider().body()).toMatchObject({ stream: true });
    const idempotencyKey = 'key-of-the-run';
    expect(pieces).toMatchObject([
      { text: 'Hel', runId, idempotencyKey },
      { text: 'lo ', runId, idempotencyKey },
      { text: '😀', runId, idempotencyKey },
    ]);
    expect({ runStatus, outputs, tokens }).toEqual({
      runStatus: 'succeeded',
      outputs: [{ type: 'text', data: 'Hello 😀' }],
      tokens: 7,
    });
    expect(await call('GET', `/runs/${runId}`)).toMatchObject({ outputs });
  });

  it.each<StreamEnd>(['within an event', 'without [DONE]'])(
    'that ends %s is a failed run with the text so far',
    async end => {
      const [pieces, { runStatus, outputs }] = await runAndWatch(prompt('model: chat-model'), [
        streamEvents([createDelta('Once'), createDelta(' upon')], end),
      ]);
      expect(pieces.map(({ text }) => text).join('')).toBe('Once upon');
      expect(runStatus).toBe('failed');
      expect(outputs).toEqual([
        { type: 'text', data: 'Once upon' },
        {
          type: 'error',
          data: 'fake-provider ended its answer before it was complete; it may have been paid for: run it again',
        },
      ]);
    },
  );

  it('that ends in an error is a failed run with the text so far', async () => {
    const [, { outputs }] = await runAndWatch(prompt('model: chat-model'), [
      streamEvents([createDelta('Once'), { error: { message: 'overloaded' } }]),
    ]);
    expect(outputs.map(({ data }) => data)).toEqual([
      'Once',
      'fake-provider answered with an error: overloaded; it may have been paid for',
    ]);
  });

  it('is neither shown nor streamed if it is checked first', async () => {
    const [pieces] = await runAndWatch(prompt('model: chat-model\noutput: {format: json}'), [
      chatAnswer('{}'),
    ]);
    expect(pieces).toEqual([]);
    expect(provider().body()).not.toHaveProperty('stream');
  });

  it('is read from a server that streams though no stream was requested', async () => {
    const { outputs } = await runChatModel(
      streamEvents([createDelta('Hi'), createDelta('!', { finish_reason: 'stop' })]),
    );
    expect(outputs).toEqual([{ type: 'text', data: 'Hi!' }]);
  });

  it('is read from a stream that is not marked as one', async () => {
    const { outputs } = await runChatModel({
      body: 'data: {"choices":[{"delta":{"content":"Hi"},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n',
    });
    expect(outputs).toEqual([{ type: 'text', data: 'Hi' }]);
  });

  it('is shown at once from a server that does not stream', async () => {
    const [pieces] = await runAndWatch(prompt('model: chat-model'), [chatAnswer('Whole')]);
    expect(pieces.map(({ text }) => text)).toEqual(['Whole']);
  });
});
