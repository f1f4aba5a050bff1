import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { text as textOf } from 'node:stream/consumers';
import { afterAll, beforeAll } from 'vitest';
import {
  type EmbeddedService,
  type LocalStore,
  openStore,
  startEmbedded,
} from '../../../src/service/index.ts';
import { createTemporaryDataDir } from '../../support/local-service.ts';
import {
  FakeProvider,
  type ProviderAnswer,
  type ProviderHandler,
} from '../../support/providers/fake-provider.ts';

/** A run as the interface returns it. */
export interface Run {
  runId: string;
  runStatus: string;
  outputs: { type: string; data: string }[];
  tokens: number;
}

/** The key of `fake-provider`, which nothing may show. */
export const KEY = 'sk-fake-0123456789';

/** The key of `provider-with-short-key`: a word that its errors use as well. */
export const SHORT_KEY = 'answer';

/** A template for tests in which its text doesn't matter. */
export const ASK = 'Say hi';

/** Returns the text of a prompt file with this front matter. */
export function prompt(frontMatter: string, template = ASK): string {
  return `---\n${frontMatter}\n---\n${template}`;
}

export type StreamEnd = 'with [DONE]' | 'without [DONE]' | 'within an event';

/** Answers with server-sent events. */
export function streamEvents(events: unknown[], end: StreamEnd = 'with [DONE]'): ProviderHandler {
  return response => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    for (const event of events) response.write(`data: ${JSON.stringify(event)}\n\n`);
    if (end === 'with [DONE]') {
      response.end('data: [DONE]\n\n');
    } else if (end === 'without [DONE]') {
      response.end();
    } else {
      response.write('data: {"choi', () => response.destroy());
    }
  };
}

/** Returns an event of a stream with a piece of the answer; `more` is of its choice. */
export function createDelta(content: string, more: object = {}): object {
  return { choices: [{ delta: { content }, ...more }] };
}

/**
 * Starts a double of a provider and a service with its models, for the tests of a file;
 * `buildModelsFile` names the models and their providers.
 */
export function useProvider() {
  let provider: FakeProvider;
  let service: EmbeddedService;

  let store: LocalStore;
  let dataDir: string;

  beforeAll(async () => {
    provider = await FakeProvider.start();
    dataDir = createTemporaryDataDir();
    store = await openStore({ dataDir, env: {} });
    writeFileSync(path.join(dataDir, 'models.yaml'), buildModelsFile(provider.baseUrl));

    service = await startEmbedded({
      dataDir,
      env: { FAKE_KEY: KEY, SHORT_KEY },
      onNotice: () => {},
    });
  });

  afterAll(async () => {
    await store.close();
    await service.close();
    await provider.close();
  });

  async function call<T>(method: string, target: string, body?: unknown, key = ''): Promise<T> {
    const answer = await service.request({
      method,
      url: `${service.url}${target}`,
      headers: {
        authorization: `Bearer ${service.sessionKey}`,
        ...(key === '' ? {} : { 'idempotency-key': key }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    return (JSON.parse(await textOf(answer.body)) as { data: T }).data;
  }

  /** Runs a prompt file of this text; the provider answers in turn. */
  async function run(
    source: string,
    answers: (ProviderAnswer | ProviderHandler)[],
    options: { runOptions?: object; key?: string } = {},
  ): Promise<Run> {
    provider.reset(...answers);
    const file = path.join(dataDir, 'asked.prompt');
    writeFileSync(file, source);
    const { promptVersionId } = await store.ensureUnlistedVersion({ file });
    const { key, runOptions } = options;
    return await call('POST', '/runs', { promptVersionId, inputs: {}, runOptions }, key);
  }

  /** Runs a prompt of `chat-model`, which the provider answers. */
  const runChatModel = (answer: ProviderAnswer | ProviderHandler): Promise<Run> =>
    run(prompt('model: chat-model'), [answer]);

  return {
    provider: () => provider,
    service: () => service,
    call,
    run,
    runChatModel,
  };
}

function buildModelsFile(baseUrl: string): string {
  return `
providers:
  fake-provider: {baseUrl: "${baseUrl}", apiKeyEnv: FAKE_KEY, headers: {X-Title: tests}}
  provider-with-short-key: {baseUrl: "${baseUrl}", apiKeyEnv: SHORT_KEY}
  unreachable-provider: {baseUrl: "http://127.0.0.1:9/v1"}
models:
  - {model: chat-model, modality: text, provider: fake-provider, credits: 0}
  - {model: model-without-json, modality: text, provider: fake-provider, responseFormat: none, credits: 0}
  - {model: model-with-short-key, modality: text, provider: provider-with-short-key, credits: 0}
  - {model: unreachable-model, modality: text, provider: unreachable-provider, credits: 0}
  - {model: image-model, modality: image, provider: fake-provider, credits: 0}
modelAliases: {googleai/gemini-2.5-pro: chat-model}
`;
}
