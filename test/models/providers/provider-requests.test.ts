import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { text as textOf } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';
import { openStore, startEmbedded } from '../../../src/service/index.ts';
import { HandClock } from '../../support/hand-clock.ts';
import { createTemporaryDataDir } from '../../support/local-service.ts';
import { chatAnswer } from '../../support/providers/fake-provider.ts';
import { ASK, KEY, prompt, useProvider } from './provider-of-tests.ts';

const { provider, run } = useProvider();

describe('what a provider is sent', () => {
  it("holds the settings of the prompt with their types, those of the run, and the provider's headers", async () => {
    const source = prompt(
      'model: clever\nconfig: {temperature: 0.5, maxOutputTokens: 9, topK: 3, stopSequences: [END], logprobs: true, model: other}',
    );
    const { runStatus } = await run(source, [chatAnswer('Hi')], {
      runOptions: { topP: '0.25', reasoningEffort: 'low' },
    });

    expect(runStatus).toBe('succeeded');
    expect(provider().body()).toEqual({
      model: 'clever',
      messages: [{ role: 'user', content: ASK }],
      temperature: 0.5,
      max_tokens: 9,
      top_k: 3,
      top_p: 0.25,
      stop: ['END'],
      logprobs: true,
      reasoning_effort: 'low',
    });
    expect(provider().requests[0]?.headers).toMatchObject({
      'x-title': 'tests',
      authorization: `Bearer ${KEY}`,
    });
  });

  it("asks for JSON in the prompt's schema if the endpoint supports it", async () => {
    const head = 'output: {schema: {date: string, sum?: number}}';
    await run(prompt(`model: clever\n${head}`), [chatAnswer('{"date": "today"}')]);

    expect(provider().body()['response_format']).toMatchObject({
      type: 'json_schema',
      json_schema: { schema: { type: 'object', required: ['date'] } },
    });

    await run(prompt('model: clever\noutput: {format: json}'), [chatAnswer('{}')]);
    expect(provider().body()['response_format']).toEqual({ type: 'json_object' });

    await run(prompt(`model: plain\n${head}`), [chatAnswer('{"date": "today"}')]);
    expect(provider().body()).not.toHaveProperty('response_format');
  });

  it.each([
    ['{schema: {date: string, tags(array): string, place(object): {town: string}}}', true],
    ['{schema: {date: string, sum?: number}}', false],
    ['{schema: {date: string, (*): string}}', false],
    ['{schema: {place(object): {town?: string}}}', false],
    [
      '{schema: {type: object, properties: {a: {oneOf: [{type: string}]}}, required: [a], additionalProperties: false}}',
      false,
    ],
    ['{schema: {anyOf: [{type: string}]}}', false],
  ])('asks for a strict schema only if the provider can follow it: %s', async (output, strict) => {
    await run(prompt(`model: clever\noutput: ${output}`), [chatAnswer('{}')]);
    const format = provider().body()['response_format'] as { json_schema: { strict?: boolean } };
    expect(format.json_schema.strict).toBe(strict);
  });

  it('goes to the model that a foreign name stands for', async () => {
    const { outputs } = await run(prompt('model: googleai/gemini-2.5-pro'), [chatAnswer('Hi')]);
    expect(outputs).toEqual([{ type: 'text', data: 'Hi' }]);
    expect(provider().body()['model']).toBe('clever');
  });
});

it('a model without a description is taken for one of the endpoint of the environment, and a note names models discover', async () => {
  const ownDir = createTemporaryDataDir();
  const clock = new HandClock();
  const notes: string[] = [];

  const own = await startEmbedded({
    dataDir: ownDir,
    clock,
    env: { OPENAI_BASE_URL: provider().baseUrl },
    onNotice: line => void notes.push(line),
  });
  try {
    provider().reset(chatAnswer('Hi'));
    const file = path.join(ownDir, 'x.prompt');
    writeFileSync(file, prompt('model: llama3.2'));
    const ownStore = await openStore({
      dataDir: ownDir,
      env: { OPENAI_BASE_URL: provider().baseUrl },
      clock,
    });
    const { promptVersionId } = await ownStore.ensureUnlistedVersion({ file });
    await ownStore.close();
    const answer = await own.request({
      method: 'POST',
      url: `${own.url}/runs`,
      headers: { authorization: `Bearer ${own.sessionKey}` },
      body: JSON.stringify({ promptVersionId, inputs: {} }),
    });

    expect(await textOf(answer.body)).toContain('"Hi"');
    expect(notes).toEqual([expect.stringContaining('promptrun models discover') as string]);
  } finally {
    await own.close();
  }
});
