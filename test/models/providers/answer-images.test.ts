import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { EngineResult } from '../../../src/models/engine.ts';
import { createEngines } from '../../../src/models/engines.ts';
import { png } from '../../support/png.ts';
import {
  FakeProvider,
  type ProviderAnswer,
  type ProviderHandler,
} from '../../support/providers/fake-provider.ts';
import { createJob, type JobOptions } from '../job.ts';
import { ASKED, modelAt } from './requested-models.ts';

let provider: FakeProvider;

beforeAll(async () => {
  provider = await FakeProvider.start();
});

afterAll(() => provider.close());

async function draw(
  name: string,
  id: string,
  answers: readonly (ProviderAnswer | ProviderHandler)[],
  job: JobOptions = {},
): Promise<EngineResult & { waits: number[] }> {
  const { entry, env } = modelAt(provider.baseUrl, name, id);
  provider.dialect = ASKED[name]?.dialect ?? 'local';
  provider.reset(...answers);
  const waits: number[] = [];
  const sleep = async (ms: number): Promise<void> => void waits.push(ms);
  const result = await createEngines({ dataDir: 'nowhere', env }).provider.run(
    createJob({ template: 'A house', sleep, ...job, model: entry }),
  );

  return { ...result, waits };
}

const getErrorText = ({ outputs }: EngineResult): string =>
  outputs.map(output => (output.type === 'error' ? output.message : '')).join('');

const PICTURE = png(2, 2);
const TASK = { body: { request_id: 'task-1' } };
const PENDING = { body: { id: 'task-1', status: 'Pending', result: null } };
const hangUp: ProviderHandler = response => void response.destroy();

describe('a picture that is drawn in its own time', () => {
  const [name, id] = ['fireworks-images', 'accounts/fireworks/models/flux-kontext-pro'] as const;

  it('is asked for until it is there, and fetched without the key', async () => {
    const sample = `${new URL(provider.baseUrl).origin}/made.png`;
    const ready = { body: { id: 'task-1', status: 'Ready', result: { sample } } };
    const bytes = { headers: { 'content-type': 'image/png' }, body: PICTURE };
    const { outputs, waits } = await draw(name, id, [TASK, PENDING, hangUp, ready, bytes]);

    expect(outputs).toEqual([{ type: 'image', bytes: PICTURE, mediaType: 'image/png' }]);

    const requestedPaths = provider.requests.map(
      ({ method, path }) => `${method} ${path.split('/').at(-1)}`,
    );
    const result = 'POST get_result';

    expect(requestedPaths).toEqual([
      'POST flux-kontext-pro',
      result,
      result,
      result,
      'GET made.png',
    ]);
    expect(provider.body(1)).toEqual({ id: 'task-1' });

    const keys = provider.requests.map(({ headers }) => headers.authorization);
    expect(keys).toEqual([
      ...Array.from({ length: 4 }, () => 'Bearer key-of-fireworks'),
      undefined,
    ]);
    expect(waits).toHaveLength(3);
  });

  it.each<[string, ProviderAnswer, RegExp]>([
    [
      'that is withheld',
      { body: { id: 'task-1', status: 'Content Moderated', result: null } },
      /content filter withheld .*Content Moderated/,
    ],
    [
      'that fails',
      { body: { id: 'task-1', status: 'Error', result: null } },
      /ended its answer with an error/,
    ],
    [
      'whose place is gone',
      { status: 404, body: { error: 'Task not found' } },
      /accepted the request .* 404/,
    ],
    [
      'that nobody may see',
      { status: 401, body: { error: 'Unauthorized' } },
      /accepted the request .* 401/,
    ],
  ])('%s may have been paid for, and is ordered once', async (_, answer, message) => {
    const result = await draw(name, id, [TASK, answer]);
    expect(result).toMatchObject({ hasFailed: true, isRefused: false });
    expect(result.fault).toBeUndefined();
    expect(getErrorText(result)).toMatch(message);
    expect(getErrorText(result)).toContain('it may have been paid for');
    expect(provider.requests.filter(({ path }) => !path.endsWith('/get_result'))).toHaveLength(1);
  });
});

describe('a model that can’t be asked for a picture', () => {
  const editingJob = { template: 'Brighter: {{media url=p}}', images: [png(1, 1)] };
  it.each<[string, string, JobOptions, RegExp]>([
    ['googleai-images', 'imagen-4.0-generate-001', {}, /use a Gemini model that draws/],
    ['vertexai-images', 'imagen-4.0-generate-001', {}, /use a Gemini model that draws/],
    ['bedrock-images', 'stability.stable-image-core-v1:1', {}, /use amazon\.nova-canvas/],
    [
      'fireworks-images',
      'accounts/fireworks/models/flux-1-schnell-fp8',
      editingJob,
      /not change them/,
    ],
  ])('%s, %s: nothing is sent', async (name, id, job, message) => {
    const result = await draw(name, id, [], job);
    expect(result).toMatchObject({ hasFailed: true, isRefused: true });
    expect(getErrorText(result)).toMatch(message);
    expect(provider.requests).toEqual([]);
  });
});

it.each<[string, object, RegExp]>([
  [
    'at a private address',
    { url: 'https://10.0.0.1/made.png' },
    /not be fetched: 10\.0\.0\.1 is not a public/,
  ],
  ['that is not one', { b64_json: Buffer.from('<html>').toString('base64') }, /is not a picture/],
])('a picture %s may have been paid for', async (_, data, message) => {
  const result = await draw('xai-images', 'grok-imagine-image', [{ body: { data: [data] } }]);
  expect(result).toMatchObject({ hasFailed: true });
  expect(getErrorText(result)).toMatch(message);
  expect(getErrorText(result)).toContain('it may have been paid for');
  expect(provider.requests).toHaveLength(1);
});

it.each(['base64', 'base64url'] as const)(
  'decodes a large picture in %s, with and without line breaks',
  async encoding => {
    const bytes = Buffer.concat([PICTURE, randomBytes(3_000_000)]);
    const text = bytes.toString(encoding);
    for (const base64 of [text, text.replace(/.{76}/g, '$&\r\n')]) {
      const { outputs } = await draw('xai-images', 'grok-imagine-image', [
        { body: { data: [{ b64_json: base64 }] } },
      ]);
      const [output] = outputs;
      expect(output?.type === 'image' && bytes.equals(output.bytes)).toBe(true);
    }
  },
);

it('says that a picture was withheld, and what it cost', async () => {
  const cost = { usage: { cost_in_usd_ticks: 200_000_000 } };
  const withheld = { data: [{ url: '', respect_moderation: false }], ...cost };
  const result = await draw('xai-images', 'grok-imagine-image', [{ body: withheld }]);

  expect(getErrorText(result)).toMatch(/content filter withheld/);
  expect(result.usage?.dollars).toBe(0.02);

  const moderated = {
    status: 'Request Moderated',
    details: { 'Moderation Reasons': ['Derivative Works'] },
  };
  const refused = await draw('bedrock-images', 'amazon.nova-canvas-v1:0', [{ body: moderated }]);

  expect(getErrorText(refused)).toMatch(/content filter withheld/);
});

it('reports options that requests for pictures have no place for', async () => {
  const bytes = { body: { created: 1, data: [{ b64_json: PICTURE.toString('base64') }] } };
  const { warnings } = await draw('together-images', 'black-forest-labs/FLUX.1-schnell', [bytes], {
    runOptions: { temperature: 0.5, stopSequences: ['END'], seed: 3 },
  });
  expect(warnings?.toSorted()).toEqual([
    'black-forest-labs/FLUX.1-schnell does not take stopSequences: left out',
    'black-forest-labs/FLUX.1-schnell does not take temperature: left out',
  ]);
  expect(provider.body()).toMatchObject({ seed: 3 });
});

it('reports a size that a model does not take', async () => {
  const bytes = { body: { created: 1, data: [{ b64_json: PICTURE.toString('base64') }] } };
  const { warnings } = await draw('xai-images', 'grok-imagine-image', [bytes], {
    runOptions: { size: '512x512' },
  });
  expect(warnings).toEqual(['grok-imagine-image does not take size: left out']);
});
