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

/** The key of the provider, which nothing may show. */
export const KEY = 'sk-corner-0123456789';

/** The template of a prompt that doesn't matter. */
export const ASK = 'Say hi';

/** Returns the text of a prompt file with this front matter. */
export function prompt(head: string, template = ASK): string {
  return `---\n${head}\n---\n${template}`;
}

/** Writes server-sent events, and ends in the given way. */
export function streamEvents(
  events: unknown[],
  end: 'whole' | 'cut' | 'silent' = 'whole',
): ProviderHandler {
  return response => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    for (const event of events) response.write(`data: ${JSON.stringify(event)}\n\n`);
    if (end === 'whole') {
      response.end('data: [DONE]\n\n');
    } else if (end === 'silent') {
      response.end();
    } else {
      response.write('data: {"choi', () => response.destroy());
    }
  };
}

/** Returns an event of a stream with a piece of the answer. */
export function createDelta(content: string, more: object = {}): object {
  return { choices: [{ delta: { content }, ...more }] };
}

/** Starts a double of a provider and a service with its models, for the tests of a file. */
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
      env: { CORNER_KEY: KEY, SHORT_KEY: 'answer' },
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

  /** Runs a prompt of this file's content; the provider answers in turn. */
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

  /** Runs a prompt of the model `clever`, which the provider answers. */
  const runClever = (answer: ProviderAnswer | ProviderHandler): Promise<Run> =>
    run(prompt('model: clever'), [answer]);

  return {
    provider: () => provider,
    service: () => service,
    call,
    run,
    runClever,
  };
}

function buildModelsFile(baseUrl: string): string {
  return `
providers:
  corner: {baseUrl: "${baseUrl}", apiKeyEnv: CORNER_KEY, headers: {X-Title: tests}}
  short: {baseUrl: "${baseUrl}", apiKeyEnv: SHORT_KEY}
  closed: {baseUrl: "http://127.0.0.1:9/v1"}
models:
  - {model: clever, modality: text, provider: corner, credits: 0}
  - {model: plain, modality: text, provider: corner, responseFormat: none, credits: 0}
  - {model: short, modality: text, provider: short, credits: 0}
  - {model: closed, modality: text, provider: closed, credits: 0}
  - {model: painter, modality: image, provider: corner, credits: 0}
modelAliases: {googleai/gemini-2.5-pro: clever}
`;
}
