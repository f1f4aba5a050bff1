import { describe, expect, it } from 'vitest';
import type { TextPiece } from '../../../src/service/runs/execution/text-feed.ts';
import {
  chatAnswer,
  type ProviderAnswer,
  type ProviderHandler,
} from '../../support/providers/fake-provider.ts';
import { createDelta, prompt, type Run, streamEvents, useProvider } from './provider-of-tests.ts';

const { provider, service, call, run, runClever } = useProvider();

describe('an answer that must be JSON', () => {
  const head = 'model: clever\noutput: {schema: {date: string, sum?: number}}';

  it('is taken out of its fence, and is the output of the run', async () => {
    const { runStatus, outputs } = await run(prompt(head), [
      chatAnswer('```json\n{"date": "today"}\n```'),
    ]);
    expect({ runStatus, outputs }).toEqual({
      runStatus: 'succeeded',
      outputs: [{ type: 'text', data: '{"date": "today"}' }],
    });
  });

  it('fails the run if it is not, with the text as it came and the place of the fault', async () => {
    const prose = await run(prompt(head), [chatAnswer('It was today.')]);
    expect(prose.runStatus).toBe('failed');
    expect(prose.outputs).toEqual([
      { type: 'text', data: 'It was today.' },
      { type: 'error', data: expect.stringContaining('not JSON') as string },
    ]);

    const wrong = await run(prompt(head), [chatAnswer('{"date": 5}')]);
    expect(wrong.outputs[1]?.data).toContain('"/date"');
  });
});

describe('text as it comes', () => {
  async function runAndWatch(
    source: string,
    answers: (ProviderAnswer | ProviderHandler)[],
  ): Promise<[TextPiece[], Run]> {
    const pieces: TextPiece[] = [];
    const stop = service().inProcessRuns.onText(piece => pieces.push(piece));
    try {
      return [pieces, await run(source, answers, { key: `test-${Math.random()}` })];
    } finally {
      stop();
    }
  }

  it('is shown piece by piece, and is exactly the later output of the run', async () => {
    const events = [
      createDelta('Hel'),
      createDelta('lo \ud83d'),
      createDelta('\ude00', { finish_reason: 'stop' }),
      { choices: [], usage: { total_tokens: 7 } },
    ];
    const [pieces, { outputs, runStatus, tokens, runId }] = await runAndWatch(
      prompt('model: clever'),
      [streamEvents(events)],
    );

    expect(pieces.map(({ text }) => text)).toEqual(['Hel', 'lo ', '😀']);
    expect(
      pieces.every(piece => piece.runId === runId && piece.idempotencyKey?.startsWith('test-')),
    ).toBe(true);
    expect({ runStatus, outputs, tokens }).toEqual({
      runStatus: 'succeeded',
      outputs: [{ type: 'text', data: 'Hello 😀' }],
      tokens: 7,
    });

    expect(await call('GET', `/runs/${runId}`)).toMatchObject({ outputs });
    expect(provider().body()).toMatchObject({ stream: true });
  });

  it.each(['cut', 'silent'] as const)(
    'that is %s is a failed run with the text so far',
    async end => {
      const [pieces, { runStatus, outputs }] = await runAndWatch(prompt('model: clever'), [
        streamEvents([createDelta('Once'), createDelta(' upon')], end),
      ]);
      expect(pieces.map(({ text }) => text).join('')).toBe('Once upon');
      expect(runStatus).toBe('failed');
      expect(outputs).toEqual([
        { type: 'text', data: 'Once upon' },
        {
          type: 'error',
          data: 'corner ended its answer before it was complete; it may have been paid for: run it again',
        },
      ]);
    },
  );

  it('that ends in an error is a failed run with the text so far', async () => {
    const [, { outputs }] = await runAndWatch(prompt('model: clever'), [
      streamEvents([createDelta('Once'), { error: { message: 'overloaded' } }]),
    ]);
    expect(outputs.map(({ data }) => data)).toEqual([
      'Once',
      'corner answered with an error: overloaded; it may have been paid for',
    ]);
  });

  it('is neither shown nor streamed if it is checked first', async () => {
    const [pieces] = await runAndWatch(prompt('model: clever\noutput: {format: json}'), [
      chatAnswer('{}'),
    ]);
    expect(pieces).toEqual([]);
    expect(provider().body()).not.toHaveProperty('stream');
  });

  it('is taken from servers that only stream, and whole from those that never do', async () => {
    const { outputs } = await runClever(
      streamEvents([createDelta('Hi'), createDelta('!', { finish_reason: 'stop' })]),
    );
    expect(outputs).toEqual([{ type: 'text', data: 'Hi!' }]);

    const unmarked: ProviderAnswer = {
      body: 'data: {"choices":[{"delta":{"content":"Hi"},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n',
    };
    expect((await runClever(unmarked)).outputs).toEqual([{ type: 'text', data: 'Hi' }]);

    const [pieces] = await runAndWatch(prompt('model: clever'), [chatAnswer('Whole')]);
    expect(pieces.map(({ text }) => text)).toEqual(['Whole']);
  });
});
