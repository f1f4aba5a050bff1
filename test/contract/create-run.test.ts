import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Run, RunPage } from '../../src/wire/index.ts';
import { createKeyIn, TestService } from '../support/local-service.ts';
import { png } from '../support/png.ts';

let service: TestService;
/** The ids of versions, by the slugs of their prompts. */
let versions: { hello: string; postcard: string; sandbox: string; describe: string };

beforeAll(async () => {
  service = await TestService.start();
  versions = {
    hello: await service.versionOf('hello'),
    postcard: await service.versionOf('postcard'),
    sandbox: await service.versionOf('sandbox'),
    describe: await service.versionOf('describe'),
  };
});

afterAll(() => service.close());

interface InvalidBody {
  readonly what: string;
  readonly build: () => unknown;
  /** A part of the message. */
  readonly message: string;
}

const create = (body: unknown) => service.post<Run>('/runs', body);
const buildHelloRequest = (name = 'Ann') => ({
  promptVersionId: versions.hello,
  inputs: { textInputs: { name } },
});

describe('POST /runs', () => {
  test('answers with run id, outputs, status and tokens, and nothing else', async () => {
    const { http, data } = await create(buildHelloRequest());
    expect(http).toBe(200);
    expect(data).toEqual({
      runId: expect.any(String) as string,
      outputs: [{ type: 'text', data: 'Hello, Ann! A pleasant day to you.' }],
      runStatus: 'succeeded',
      tokens: expect.any(Number) as number,
    });
    expect(data.tokens).toBeGreaterThan(0);
  });

  test('runs with the default of an input that is left out', async () => {
    await service.publish(
      'mood',
      '---\ninput:\n  schema:\n    mood?: string\n  default:\n    mood: calm\n---\n{{mood}}',
    );
    const mood = await service.versionOf('mood');
    const { data } = await create({ promptVersionId: mood, inputs: {} });
    expect(data.outputs).toEqual([{ type: 'text', data: 'calm' }]);
  });

  test('answers 200 with a run that failed', async () => {
    const { http, data } = await create({
      promptVersionId: versions.sandbox,
      inputs: {},
      runOptions: { outcome: 'failed' },
    });
    expect(http).toBe(200);
    expect(data).toMatchObject({ runStatus: 'failed', tokens: 0, outputs: [{ type: 'error' }] });
  });

  test('answers with the text and the error of a run that succeeded in part', async () => {
    const { data } = await create({
      promptVersionId: versions.sandbox,
      inputs: {},
      runOptions: { outcome: 'partial' },
    });
    expect(data).toMatchObject({
      runStatus: 'succeeded',
      outputs: [{ type: 'text' }, { type: 'error' }],
    });
  });

  test('accepts an image as base64', async () => {
    const image = { type: 'base64', base64: png(3, 2).toString('base64') };
    const { data } = await create({
      promptVersionId: versions.describe,
      inputs: { imageInputs: [image] },
    });
    expect(data.outputs[0]?.data).toContain('3 × 2');
  });

  test('accepts a promptVersionId in capital letters', async () => {
    expect(
      (await create({ ...buildHelloRequest(), promptVersionId: versions.hello.toUpperCase() }))
        .http,
    ).toBe(200);
  });

  test.each(['text/plain', 'json', 'application/json, text/plain', ''])(
    'reads the body as JSON whatever its content type: %j',
    async type => {
      const { http } = await service.post('/runs', buildHelloRequest(), {
        headers: { 'content-type': type },
      });
      expect(http).toBe(200);
    },
  );

  test.each([
    ['of the body', () => ({ ...buildHelloRequest(), extra: 1 })],
    [
      'in the inputs',
      () => ({ ...buildHelloRequest(), inputs: { textInputs: { name: 'Ann' }, videoInputs: 7 } }),
    ],
    [
      'as a text input',
      () => ({ ...buildHelloRequest(), inputs: { textInputs: { name: 'Ann', other: 'x' } } }),
    ],
  ])('ignores a field that is not listed: %s', async (_, body) => {
    expect((await create(body())).http).toBe(200);
  });

  test.each(['__proto__', 'constructor', 'toString'])(
    'accepts an input named %s like any other',
    async inputName => {
      const source = `---\ninput:\n  schema:\n    "${inputName}": string\n---\n<{{${inputName}}}>`;
      await service.publish(`odd-${inputName.replaceAll('_', '')}`, source);
      const promptVersionId = await service.versionOf(`odd-${inputName.replaceAll('_', '')}`);
      const missing = await service.post('/runs', { promptVersionId, inputs: { textInputs: {} } });

      expect(missing.message).toBe(`the input ${inputName} is required`);

      const body = `{"promptVersionId":"${promptVersionId}","inputs":{"textInputs":{"${inputName}":"in"}}}`;
      const { data } = await create(body);

      expect(data.outputs).toEqual([{ type: 'text', data: '<in>' }]);
    },
  );
});

describe('POST /runs with an invalid body', () => {
  const buildDescribeRequest = (input: object) => ({
    promptVersionId: versions.describe,
    inputs: { imageInputs: [input] },
  });

  /** Bodies with what is wrong with them; built once the versions are known. */
  const INVALID_BODIES: readonly InvalidBody[] = [
    { what: 'no object: a list', build: () => [], message: 'the body must be an object' },
    { what: 'no object: a text', build: () => '"x"', message: 'the body must be an object' },
    { what: 'no object: null', build: () => 'null', message: 'the body must be an object' },
    {
      what: 'no promptVersionId',
      build: () => ({ inputs: {} }),
      message: 'promptVersionId is required',
    },
    {
      what: 'a promptVersionId that is a number',
      build: () => ({ promptVersionId: 5, inputs: {} }),
      message: 'promptVersionId must be a string',
    },
    {
      what: 'a promptVersionId that is not a UUID',
      build: () => ({ promptVersionId: 'x', inputs: {} }),
      message: 'promptVersionId must be a UUID',
    },
    {
      what: 'a promptVersionId with more to it',
      build: () => ({ promptVersionId: `urn:uuid:${versions.hello}`, inputs: {} }),
      message: 'promptVersionId must be a UUID',
    },
    {
      what: 'no inputs',
      build: () => ({ promptVersionId: versions.hello }),
      message: 'inputs is required',
    },
    {
      what: 'inputs that are null',
      build: () => ({ promptVersionId: versions.hello, inputs: null }),
      message: 'inputs must be an object',
    },
    {
      what: 'inputs that are a list',
      build: () => ({ promptVersionId: versions.hello, inputs: [] }),
      message: 'inputs must be an object',
    },
    {
      what: 'a required input missing',
      build: () => ({ promptVersionId: versions.hello, inputs: {} }),
      message: 'the input name is required',
    },
    {
      what: 'a text that is a number',
      build: () => ({ promptVersionId: versions.hello, inputs: { textInputs: { name: 5 } } }),
      message: 'inputs.textInputs.name must be a string',
    },
    {
      what: 'a text that is null',
      build: () => ({ promptVersionId: versions.hello, inputs: { textInputs: { name: null } } }),
      message: 'inputs.textInputs.name must be a string',
    },
    {
      what: 'texts that are a list',
      build: () => ({ promptVersionId: versions.hello, inputs: { textInputs: ['a'] } }),
      message: 'inputs.textInputs must be an object',
    },
    {
      what: 'an enum value that is not listed',
      build: () => ({
        promptVersionId: versions.postcard,
        inputs: { textInputs: { place: 'Oslo', mood: 'foggy' } },
      }),
      message: 'the input mood must be one of sunny, rainy, snowy',
    },
    {
      what: 'a image too many',
      build: () => ({
        ...buildHelloRequest(),
        inputs: {
          textInputs: { name: 'A' },
          imageInputs: [{ type: 'url', url: 'https://example.com/a.png' }],
        },
      }),
      message: 'inputs.imageInputs must hold 0 images, not 1',
    },
    {
      what: 'a image too few',
      build: () => ({ promptVersionId: versions.describe, inputs: {} }),
      message: 'inputs.imageInputs must hold 1 image, not 0',
    },
    {
      what: 'images that are not a list',
      build: () => ({ promptVersionId: versions.describe, inputs: { imageInputs: {} } }),
      message: 'inputs.imageInputs must be an array',
    },
    {
      what: 'a image of an unknown type',
      build: () => buildDescribeRequest({ type: 'file' }),
      message: 'inputs.imageInputs[0].type must be one of url, base64',
    },
    {
      what: 'a image without a type',
      build: () => buildDescribeRequest({ url: 'https://example.com' }),
      message: 'inputs.imageInputs[0].type is required',
    },
    {
      what: 'a URL image without a URL',
      build: () => buildDescribeRequest({ type: 'url' }),
      message: 'inputs.imageInputs[0].url is required',
    },
    {
      what: 'a base64 image without base64',
      build: () => buildDescribeRequest({ type: 'base64', url: 'x' }),
      message: 'inputs.imageInputs[0].base64 is required',
    },
    {
      what: 'a image by plain http',
      build: () => buildDescribeRequest({ type: 'url', url: 'http://example.com/a.png' }),
      message: 'inputs.imageInputs[0].url: ',
    },
    {
      what: 'a image on loopback',
      build: () => buildDescribeRequest({ type: 'url', url: 'https://127.0.0.1/a.png' }),
      message: 'inputs.imageInputs[0].url: ',
    },
    {
      what: 'a data URL as base64',
      build: () =>
        buildDescribeRequest({
          type: 'base64',
          base64: `data:image/png;base64,${png(1, 1).toString('base64')}`,
        }),
      message: 'inputs.imageInputs[0].base64: ',
    },
    {
      what: 'base64 that does not decode',
      build: () => buildDescribeRequest({ type: 'base64', base64: '%%%' }),
      message: 'inputs.imageInputs[0].base64: ',
    },
    {
      what: 'base64 that is not a image',
      build: () =>
        buildDescribeRequest({ type: 'base64', base64: Buffer.from('text').toString('base64') }),
      message: 'inputs.imageInputs[0].base64: ',
    },
    {
      what: 'a run option the model has not',
      build: () => ({ ...buildHelloRequest(), runOptions: { quality: 'low' } }),
      message: 'runOptions.quality is not a run option of the model echo',
    },
    {
      what: 'a run option named like a method',
      build: () => ({ ...buildHelloRequest(), runOptions: { constructor: 'low' } }),
      message: 'runOptions.constructor is not a run option of the model echo',
    },
    {
      what: 'a run option value that is not listed',
      build: () => ({
        promptVersionId: versions.sandbox,
        inputs: {},
        runOptions: { delaySeconds: '2' },
      }),
      message: 'runOptions.delaySeconds must be one of 0, 1, 5, 30, 130',
    },
    {
      what: 'a run option that is a number',
      build: () => ({
        promptVersionId: versions.sandbox,
        inputs: {},
        runOptions: { delaySeconds: 1 },
      }),
      message: 'runOptions.delaySeconds must be a string',
    },
    {
      what: 'run options that are null',
      build: () => ({ ...buildHelloRequest(), runOptions: null }),
      message: 'runOptions must be an object',
    },
  ];

  test.each(INVALID_BODIES)(
    'answers 422 with the field and the rule: $what',
    async ({ build, message }) => {
      const answer = await service.post('/runs', build());
      expect(answer).toMatchObject({ http: 422, status: 'VALIDATION_ERROR', data: null });
      expect(answer.message).toContain(message);
    },
  );

  test('creates no run', async () => {
    const key = await createKeyIn(service.dataDir, { user: 'refused' });
    await service.post('/runs', { promptVersionId: versions.hello, inputs: {} }, { key });
    expect(await service.data<RunPage>('/runs', { key })).toEqual({ rows: [], hasMore: false });
  });
});

describe('POST /runs that is refused', () => {
  test.each(['{', '', 'a=b', '{"a":1}}', '\u0000'])(
    'answers 400 to a body that is not JSON: %j',
    async body => {
      expect(await service.post('/runs', body)).toMatchObject({
        http: 400,
        status: 'BAD_REQUEST_ERROR',
        data: null,
      });
    },
  );

  test('answers 400 without a body', async () => {
    expect(await service.call('POST', '/runs')).toMatchObject({
      http: 400,
      status: 'BAD_REQUEST_ERROR',
    });
  });

  test('answers 404 for an unknown prompt version', async () => {
    const promptVersionId = '00000000-0000-4000-8000-000000000000';
    expect(await service.post('/runs', { promptVersionId, inputs: {} })).toMatchObject({
      http: 404,
      status: 'NOT_FOUND_ERROR',
      data: null,
    });
  });

  test('answers 413 to a body over 64 MiB', async () => {
    const body = JSON.stringify({ ...buildHelloRequest(), filler: 'x'.repeat(64 * 1024 * 1024) });
    expect(await service.post('/runs', body)).toMatchObject({
      http: 413,
      status: 'PAYLOAD_TOO_LARGE_ERROR',
    });
  });

  test.each([
    { sender: 'with a key', hasKey: true, status: 413, message: '64 MiB' },
    { sender: 'without a key', hasKey: false, status: 401, message: 'key' },
  ])(
    'answers $status to a caller $sender that is still sending',
    async ({ hasKey, status, message }) => {
      const mebibyte = new Uint8Array(1024 * 1024).fill(0x20);
      const streamBody = async function* (): AsyncGenerator<Uint8Array> {
        for (let count = 0; count < 66; count += 1) yield mebibyte;
      };

      const answer = await fetch(`${service.service.url}/runs`, {
        method: 'POST',
        headers: hasKey ? { authorization: `Bearer ${service.key}` } : {},
        body: streamBody(),
        duplex: 'half',
      });
      expect(answer.status).toBe(status);
      expect(await answer.json()).toMatchObject({
        data: null,
        message: expect.stringContaining(message) as string,
      });
    },
  );

  test('answers 402 if the balance is lower than the costs of the run, and takes nothing', async () => {
    const key = await createKeyIn(service.dataDir, { user: 'poor', credits: 1 });
    const place = { promptVersionId: versions.postcard, inputs: { textInputs: { place: 'Oslo' } } };
    const refusal = await service.post('/runs', place, { key });
    expect(refusal).toMatchObject({ http: 402, status: 'PAYMENT_REQUIRED_ERROR', data: null });
    expect(await service.data('/me/credits', { key })).toEqual({ credits: 1 });
    expect((await service.post('/runs', buildHelloRequest(), { key })).http).toBe(200);
    expect(await service.data('/me/credits', { key })).toEqual({ credits: 0 });
  });
});

describe('the price of a run', () => {
  test('is paid if it succeeds, and not if it fails', async () => {
    const key = await createKeyIn(service.dataDir, { user: 'ada', credits: 3 });
    const { promptVersionId } = await service.publish(
      'numbers',
      '---\ninput:\n schema:\n  text: string\noutput:\n schema:\n  type: number\n---\n{{text}}',
    );
    const run = (text: string) =>
      service.post<Run>('/runs', { promptVersionId, inputs: { textInputs: { text } } }, { key });

    expect(await run('1')).toMatchObject({ data: { runStatus: 'succeeded' } });
    expect(await run('two')).toMatchObject({ data: { runStatus: 'failed' } });

    const { rows } = await service.data<RunPage>('/runs', { key });
    expect(rows).toMatchObject([{ credits: null }, { credits: 1 }]);

    const answers = await Promise.all(['3', '4', '5'].map(run));
    expect(answers.map(({ http }) => http).sort()).toEqual([200, 200, 402]);
  });
});
