import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createEngines } from '../../../src/models/engines.ts';
import type { ModelEntry, Provider } from '../../../src/models/model-entry.ts';
import { AnthropicBatches } from '../../../src/models/provider-batches/anthropic-batches.ts';
import { OpenAiBatches } from '../../../src/models/provider-batches/openai-batches.ts';
import { buildRequest } from '../../../src/models/providers/requests/build-request.ts';
import { answerInForm } from '../../support/providers/answers.ts';
import { readBatchLines } from '../../support/providers/batches.ts';
import { FakeProvider, type ProviderRequest } from '../../support/providers/fake-provider.ts';
import { ProviderLedger } from '../../support/providers/provider-ledger.ts';
import { createJob, type JobOptions } from '../job.ts';
import { ASKED, type AskedProvider, CASES, DRAWINGS, modelAt } from './requested-models.ts';
import { toTypeScript } from './to-typescript.ts';

// sent/ holds the request to every provider, as literals of the types of the providers' own
// clients. This test fails if a client of ours sends something else, and the type check fails if a
// client of theirs takes something else.
// `npx vitest run test/models/providers/requests.test.ts --update` writes the literals anew.

let provider: FakeProvider;

beforeAll(async () => {
  provider = await FakeProvider.start();
});

afterAll(() => provider.close());

/** Matches headers that an HTTP client adds, not the client of a provider. */
const TRANSPORT_HEADER =
  /^(host|connection|content-length|transfer-encoding|accept-encoding|user-agent)$/;

function pickSentHeaders({ headers }: ProviderRequest): Record<string, string> {
  const [agent = ''] = headers['user-agent']?.split(' ') ?? [];
  const ownHeaders = Object.entries(headers).filter(([name]) => !TRANSPORT_HEADER.test(name));
  return {
    'user-agent': agent.replace(/\/.*/, '/*'),
    ...Object.fromEntries(
      ownHeaders
        .toSorted()
        .map(([key, value]) => [key, String(value).replace(/boundary=.*/, 'boundary=*')]),
    ),
  };
}

/** Returns JSON, or the fields of a form, in which the name of a file stands for it. */
function parseBody({ headers, text }: ProviderRequest): object {
  if (!headers['content-type']?.startsWith('multipart/')) return JSON.parse(text) as object;
  const fields = text.matchAll(
    / name="(\w+)"(?:; filename="(.*?)")?\r\n(?:content-type[^\r]*\r\n)?\r\n(.*?)\r\n--/gis,
  );
  return Object.fromEntries(
    [...fields].map(([, field = '', file, value = '']) => [field, file ?? value]),
  );
}

/** Runs a job with a model, and returns the only request that its provider is sent. */
async function captureRequest(
  name: string,
  id: string,
  asked: AskedProvider,
  job: JobOptions,
): Promise<object> {
  const { entry, env, origin } = modelAt(provider.baseUrl, name, id);
  provider.dialect = asked.dialect ?? 'local';

  provider.reset((response, request) => {
    const answer = answerInForm(request);
    if (typeof answer === 'function') return answer(response, request);
    const { headers = { 'content-type': 'application/json' }, body } = answer;
    response.writeHead(200, headers).end(Buffer.isBuffer(body) ? body : JSON.stringify(body));
  });

  // Some providers are asked for an image and then, after a pause, for the result.
  const sleep = async (): Promise<void> => {};
  const engines = createEngines({ dataDir: 'nowhere', env });
  const result = await engines.provider.run(createJob({ ...job, model: entry, sleep }));

  expect(result).toMatchObject({ hasFailed: false });

  const [request, ...laterRequests] = provider.requests;
  expect(laterRequests.filter(({ path }) => !path.endsWith('/get_result'))).toEqual([]);

  if (!request) throw new Error('nothing was asked');

  expect(request.method).toBe('POST');

  return {
    url: `${origin}${request.path}`,
    headers: pickSentHeaders(request),
    body: parseBody(request),
    warnings: result.warnings ?? [],
  };
}

describe.each(Object.entries(ASKED))('%s', (name, asked) => {
  it('is sent what its own client may send', async () => {
    const requests: Record<string, object> = {};
    for (const id of asked.models) {
      for (const [caseName, job] of Object.entries(asked.draws ? DRAWINGS : CASES)) {
        if (job.images && asked.takesNoPictures?.test(id)) continue;
        requests[`${id}: ${caseName}`] = await captureRequest(name, id, asked, job);
      }
      if (asked.config) {
        requests[`${id}: keys of its own`] = await captureRequest(name, id, asked, {
          ...(asked.draws ? DRAWINGS['a picture'] : {}),
          runOptions: asked.config,
        });
      }
    }

    const file = path.join(import.meta.dirname, 'sent', `${name}.ts`);
    const { type } = asked;
    const text = toTypeScript([type, 'SentRequests'], `SentRequests<${type}>`, requests);

    await expect(text).toMatchFileSnapshot(file);
  });
});

const BATCHES = [
  { name: 'openai', model: 'gpt-5.6', Batches: OpenAiBatches, type: 'ResponsesBatch' },
  { name: 'openai-chat', model: 'gpt-5.6', Batches: OpenAiBatches, type: 'ChatBatch' },
  {
    name: 'anthropic',
    model: 'claude-haiku-4-5',
    Batches: AnthropicBatches,
    type: 'MessagesBatch',
  },
] as const;

describe.each(BATCHES)('a batch at $name', ({ name, model: id, Batches, type }) => {
  it('is sent as its own client sends it', async () => {
    const { entry, env, origin } = modelAt(provider.baseUrl, name, id);
    const batchProvider = requireProvider(entry);
    const access = { provider: batchProvider, key: `key-of-${batchProvider.name}`, env };
    provider.dialect = ASKED[name]?.dialect ?? 'local';
    const ledger = new ProviderLedger();
    ledger.dialect = provider.dialect;
    provider.reset(ledger.handler);
    const requests = await Promise.all(
      Object.entries(CASES)
        .filter(([, { onText }]) => onText === undefined)
        .map(async ([, job], index) => {
          const { body: parameters = new Uint8Array() } = await buildRequest(
            createJob({ ...job, model: entry }),
            access,
          );
          return { customId: `row-${index}`, parameters };
        }),
    );

    const upload = { onUploaded: async () => {} };
    const { signal } = new AbortController();
    const batchId = await new Batches(access).create(requests, 'key-of-the-batch', upload, signal);
    expect(batchId).toBe('batch_1');

    const parts = provider.requests.map(request => {
      const sentAs = { url: `${origin}${request.path}`, headers: pickSentHeaders(request) };
      if (!request.path.endsWith('/files')) {
        return ['batch', { ...sentAs, body: JSON.parse(request.text) as object }];
      }
      const { 'content-type': _, ...headers } = sentAs.headers;
      const [, purpose = ''] = /name="purpose"\r\n\r\n(\w+)/.exec(request.text) ?? [];
      return ['file', { ...sentAs, headers, purpose, lines: readBatchLines(request.text) }];
    });

    const file = path.join(import.meta.dirname, 'sent', `batch-${name}.ts`);
    await expect(
      toTypeScript([type], type, Object.fromEntries(parts) as object),
    ).toMatchFileSnapshot(file);
  });
});

function requireProvider({ model, provider: found }: ModelEntry): Provider {
  if (!found) throw new Error(`${model} has no provider`);
  return found;
}
