import { describe, expect, it, onTestFinished } from 'vitest';
import type { Provider } from '../../../src/models/model-entry.ts';
import { AnthropicBatches } from '../../../src/models/provider-batches/anthropic-batches.ts';
import { iterateBatches } from '../../../src/models/provider-batches/batch-provider.ts';
import { OpenAiBatches } from '../../../src/models/provider-batches/openai-batches.ts';
import { findProviderStatus } from '../../../src/models/providers/answers/provider-fault.ts';
import { FakeProvider, type ProviderAnswer } from '../../support/providers/fake-provider.ts';

/** Returns the status of the fault that ends the collection of a batch's results. */
async function findFault(
  engine: 'openai' | 'anthropic',
  batch: object,
  results: ProviderAnswer = {},
): Promise<number | undefined> {
  const double = await FakeProvider.start();
  onTestFinished(() => double.close());
  const { baseUrl } = double;
  const shownBatch = { id: 'b1', ...batch };
  double.reset(
    {
      body:
        'results_url' in batch ? { ...shownBatch, results_url: `${baseUrl}/results` } : shownBatch,
    },
    results,
  );
  const provider: Provider = {
    name: 'it',
    interfaceName: engine,
    baseUrl,
    keyVariables: [],
    needsKey: false,
  };
  const Batches = { openai: OpenAiBatches, anthropic: AnthropicBatches }[engine];
  const answers = new Batches({ provider, key: undefined, env: {} }).collect(
    'b1',
    AbortSignal.timeout(60_000),
  );

  return findProviderStatus(await answers.next().catch((error: unknown) => error));
}

const COMPLETED = {
  status: 'completed',
  output_file_id: 'file-1',
  request_counts: { completed: 1 },
};

const ENDED = { processing_status: 'ended', results_url: '' };

const NOT_FOUND = {
  error: {
    message: 'No such File object: file-1',
    type: 'invalid_request_error',
    param: 'id',
    code: null,
  },
};

const EXPIRED = {
  error: { message: 'The file is not there', type: 'not_found_error', code: 'file_expired' },
};

it.each([
  [
    'Anthropic has archived them',
    'anthropic',
    { processing_status: 'ended', archived_at: '2026-10-01T00:00:00Z' },
    {},
  ],
  ['Anthropic answers 410', 'anthropic', ENDED, { status: 410 }],
  ['a code says that the file has expired', 'openai', COMPLETED, { status: 404, body: EXPIRED }],
  [
    'the reason says that they have expired',
    'openai',
    COMPLETED,
    { status: 404, body: { error: { message: 'File has expired' } } },
  ],
] as const)('results are gone: %s', async (_, engine, batch, results) => {
  expect(await findFault(engine, batch, results)).toBe(410);
});

it.each([
  ['Anthropic names no address of them yet', 'anthropic', { processing_status: 'ended' }, {}],
  ['Anthropic answers 404', 'anthropic', ENDED, { status: 404 }],
  ['OpenAI names no file of them yet', 'openai', { ...COMPLETED, output_file_id: null }, {}],
  ['OpenAI does not know the file', 'openai', COMPLETED, { status: 404, body: NOT_FOUND }],
] as const)('results may come later: %s', async (_, engine, batch, results) => {
  expect(await findFault(engine, batch, results)).toBe(404);
});

it('a key that has expired says nothing of the results', async () => {
  const refused = {
    status: 401,
    body: { error: { message: 'The key has expired', code: 'key_expired' } },
  };
  expect(await findFault('openai', COMPLETED, refused)).toBe(401);
});

describe("the search for Anthropic's batch by its results", () => {
  const ended = { processing_status: 'ended', request_counts: { succeeded: 1 } };
  const lostBatch = { id: 'lost', ...ended };
  const ours = { id: 'ours', ...ended };

  /**
   * Searches for a batch of one request among batches of the same size, the first of which has no
   * results.
   */
  async function findBatch(batches: readonly object[], { key = 'key', gone = lostBatch } = {}) {
    const double = await FakeProvider.start();
    onTestFinished(() => double.close());
    const { baseUrl } = double;
    double.reset(
      { body: { data: batches, has_more: false } },
      { body: gone },
      { body: { ...ours, results_url: `${baseUrl}/results` } },
      { body: JSON.stringify({ custom_id: 'key-1', result: {} }) },
    );

    const provider: Provider = {
      name: 'it',
      interfaceName: 'anthropic',
      baseUrl,
      keyVariables: [],
      needsKey: false,
    };
    return new AnthropicBatches({ provider, key: undefined, env: {} }).find(
      { batchKey: key, createdAfterMs: Date.parse('2026-06-01T12:00:00Z'), requestCount: 1 },
      AbortSignal.timeout(60_000),
    );
  }

  it('passes over another of its size whose results are gone', async () => {
    expect(await findBatch([lostBatch, ours])).toEqual({ id: 'ours' });
  });

  it.each([
    [
      'is ours if none has our results and it may be as young',
      '2026-06-02T00:00:00Z',
      { id: 'lost' },
    ],
    ['is not ours if it is older', '2026-05-30T00:00:00Z', undefined],
  ])('decides that one whose results have expired %s', async (_, created_at, id) => {
    const gone = { ...lostBatch, archived_at: '2026-07-01T00:00:00Z', created_at };
    expect(await findBatch([gone, ours], { key: 'another', gone })).toEqual(id);
  });

  it('settles nothing while a batch that may be ours has no results', async () => {
    const fault: unknown = await findBatch([lostBatch]).catch((error: unknown) => error);
    expect(findProviderStatus(fault)).toBe(404);
  });
});

it("Anthropic's results are read at the provider's own address, whatever host a proxy's answer names", async () => {
  const double = await FakeProvider.start();
  onTestFinished(() => double.close());
  const origin = new URL(double.baseUrl).origin;
  double.reset(
    {
      body: {
        id: 'b1',
        ...ENDED,
        results_url: 'https://elsewhere.example/v1/messages/batches/b1/results',
      },
    },
    { body: JSON.stringify({ custom_id: 'key-1', result: { type: 'expired' } }) },
  );

  const provider: Provider = {
    name: 'it',
    interfaceName: 'anthropic',
    baseUrl: origin,
    keyVariables: [],
    needsKey: false,
  };
  const batches = new AnthropicBatches({ provider, key: undefined, env: {} });
  const { value } = await batches.collect('b1', AbortSignal.timeout(60_000)).next();

  expect(value).toMatchObject({ customId: 'key-1' });
  expect(double.requests.map(({ path }) => path)).toEqual([
    '/v1/messages/batches/b1',
    '/v1/messages/batches/b1/results',
  ]);
});

describe.each(['openai', 'anthropic'] as const)('the list of batches of %s', engine => {
  async function findBatch(...pages: ProviderAnswer[]) {
    const double = await FakeProvider.start();
    onTestFinished(() => double.close());
    const { baseUrl } = double;
    double.reset(...pages);
    const provider: Provider = {
      name: 'it',
      interfaceName: engine,
      baseUrl,
      keyVariables: [],
      needsKey: false,
    };
    const Batches = { openai: OpenAiBatches, anthropic: AnthropicBatches }[engine];
    const search = { batchKey: 'key', requestCount: 1, fileId: 'file-1' };

    return new Batches({ provider, key: undefined, env: {} }).find(
      search,
      AbortSignal.timeout(60_000),
    );
  }

  it.each([
    ['lacks them', {}],
    ['has none in place of them', { data: null, has_more: false }],
    ['has something else', { data: ['b1'], has_more: false }],
    ['does not say where it continues', { data: [], has_more: true }],
  ])('settles nothing if it %s', async (_, body) => {
    await expect(findBatch({ body })).rejects.toThrow('a list of its batches');
  });

  it('is empty if nothing was created', async () => {
    expect(await findBatch({ body: { data: [], has_more: false } })).toBeUndefined();
  });
});

it('a batch is found by its file at a provider that keeps no metadata', async () => {
  const double = await FakeProvider.start();
  onTestFinished(() => double.close());
  const { baseUrl } = double;
  double.reset({
    body: {
      data: [
        { id: 'other', input_file_id: 'f0' },
        { id: 'ours', input_file_id: 'f1' },
      ],
    },
  });

  const provider: Provider = {
    name: 'it',
    interfaceName: 'openai',
    baseUrl,
    keyVariables: [],
    needsKey: false,
  };
  const batches = new OpenAiBatches({ provider, key: undefined, env: {} });
  const search = { batchKey: 'key', requestCount: 1, fileId: 'f1' };

  expect(await batches.find(search, AbortSignal.timeout(60_000))).toEqual({ id: 'ours' });
});

it('a list of batches that never ends settles nothing', async () => {
  let pages = 0;
  const page = () => Promise.resolve({ data: [{ id: `b${++pages}` }], has_more: true });
  const read = async (): Promise<void> => {
    for await (const batch of iterateBatches(page)) expect(batch['id']).toBe(`b${pages}`);
  };
  await expect(read()).rejects.toThrow('does not end');
  expect(pages).toBe(10_000);
});

it('no batch of Responses is created for requests to Chat Completions', async () => {
  const double = await FakeProvider.start();
  onTestFinished(() => double.close());
  const { baseUrl } = double;
  const provider: Provider = {
    name: 'it',
    interfaceName: 'openai-responses',
    baseUrl,
    keyVariables: [],
    needsKey: false,
  };

  const parameters = Buffer.from(
    '{"model":"m","messages":[{"role":"user","content":"hi"}],"tools":[]}',
  );
  const upload = { id: undefined, onUploaded: () => Promise.resolve() };
  const created = new OpenAiBatches({ provider, key: undefined, env: {} }).create(
    [{ customId: '1', parameters }],
    'key',
    upload,
    AbortSignal.timeout(60_000),
  );

  await expect(created).rejects.toThrow('takes no tools of Chat Completions in a batch');
  expect(double.requests).toEqual([]);
});
