import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { text as textOf } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';
import { openStore, startEmbedded } from '../../../src/service/index.ts';
import { HandClock } from '../../support/hand-clock.ts';
import { createTemporaryDataDir } from '../../support/local-service.ts';
import { chatAnswer } from '../../support/providers/fake-provider.ts';
import { ASK, KEY, prompt, useProvider } from './provider-of-tests.ts';

const { provider, run, runChatModel } = useProvider();

describe('what a provider is sent', () => {
  it('holds the options of the prompt with their types, and those of the run', async () => {
    const source = prompt(
      'model: chat-model\nconfig: {temperature: 0.5, maxOutputTokens: 9, topK: 3, stopSequences: [END], logprobs: true, model: other}',
    );
    const { runStatus } = await run(source, [chatAnswer('Hi')], {
      runOptions: { topP: '0.25', reasoningEffort: 'low' },
    });

    expect(runStatus).toBe('succeeded');
    expect(provider().body()).toEqual({
      model: 'chat-model',
      messages: [{ role: 'user', content: ASK }],
      temperature: 0.5,
      max_tokens: 9,
      top_k: 3,
      top_p: 0.25,
      stop: ['END'],
      logprobs: true,
      reasoning_effort: 'low',
    });
  });

  it('has the key and the headers of the provider', async () => {
    await runChatModel(chatAnswer('Hi'));
    expect(provider().requests[0]?.headers).toMatchObject({
      authorization: `Bearer ${KEY}`,
      'x-title': 'tests',
    });
  });

  describe('for an output that must be JSON', () => {
    const output = 'output: {schema: {date: string, sum?: number}}';

    it("names the prompt's schema", async () => {
      await run(prompt(`model: chat-model\n${output}`), [chatAnswer('{"date": "today"}')]);
      expect(provider().body()['response_format']).toMatchObject({
        type: 'json_schema',
        json_schema: { schema: { type: 'object', required: ['date'] } },
      });
    });

    it('asks for any object if the prompt has no schema', async () => {
      await run(prompt('model: chat-model\noutput: {format: json}'), [chatAnswer('{}')]);
      expect(provider().body()['response_format']).toEqual({ type: 'json_object' });
    });

    it('has no format if models.yaml says that the model takes none', async () => {
      await run(prompt(`model: model-without-json\n${output}`), [chatAnswer('{"date": "today"}')]);
      expect(provider().requests).toHaveLength(1);
      expect(provider().body()).not.toHaveProperty('response_format');
    });

    it.each([
      {
        schema: '{date: string, tags(array): string, place(object): {town: string}}',
        isStrict: true,
      },
      { schema: '{date: string, sum?: number}', isStrict: false },
      { schema: '{date: string, (*): string}', isStrict: false },
      { schema: '{place(object): {town?: string}}', isStrict: false },
      {
        schema:
          '{type: object, properties: {a: {oneOf: [{type: string}]}}, required: [a], additionalProperties: false}',
        isStrict: false,
      },
      { schema: '{anyOf: [{type: string}]}', isStrict: false },
    ])(
      'asks for a strict schema only if the provider can follow it: $schema ($isStrict)',
      async ({ schema, isStrict }) => {
        await run(prompt(`model: chat-model\noutput: {schema: ${schema}}`), [chatAnswer('{}')]);
        expect(provider().body()).toMatchObject({
          response_format: { json_schema: { strict: isStrict } },
        });
      },
    );
  });

  it('goes to the model that a foreign name stands for', async () => {
    const { outputs } = await run(prompt('model: googleai/gemini-2.5-pro'), [chatAnswer('Hi')]);
    expect(outputs).toEqual([{ type: 'text', data: 'Hi' }]);
    expect(provider().body()['model']).toBe('chat-model');
  });
});

it('a model that no file describes is asked at OPENAI_BASE_URL, and a note names models discover', async () => {
  const env = { OPENAI_BASE_URL: provider().baseUrl };
  const dataDir = createTemporaryDataDir();
  const clock = new HandClock();
  const notes: string[] = [];
  const onNotice = (line: string): void => void notes.push(line);
  const service = await startEmbedded({ dataDir, clock, env, onNotice });

  try {
    provider().reset(chatAnswer('Hi'));
    const file = path.join(dataDir, 'x.prompt');
    writeFileSync(file, prompt('model: llama3.2'));
    const store = await openStore({ dataDir, env, clock });
    const { promptVersionId } = await store.ensureUnlistedVersion({ file });
    await store.close();

    const answer = await service.request({
      method: 'POST',
      url: `${service.url}/runs`,
      headers: { authorization: `Bearer ${service.sessionKey}` },
      body: JSON.stringify({ promptVersionId, inputs: {} }),
    });

    expect(await textOf(answer.body)).toContain('"Hi"');
    expect(notes).toEqual([expect.stringContaining('promptrun models discover') as string]);
  } finally {
    await service.close();
  }
});
