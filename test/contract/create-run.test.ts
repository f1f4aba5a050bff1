import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Run, RunPage } from '../../src/wire/index.ts';
import { createKeyIn, TestService } from '../support/local-service.ts';
import { png } from '../support/png.ts';

let service: TestService;
let hello: string;
let postcard: string;
let sandbox: string;
let describeImage: string;

beforeAll(async () => {
  service = await TestService.start();
  hello = await service.versionOf('hello');
  postcard = await service.versionOf('postcard');
  sandbox = await service.versionOf('sandbox');
  describeImage = await service.versionOf('describe');
});

afterAll(() => service.close());

const create = (body: unknown) => service.post<Run>('/runs', body);
const helloRequest = (name = 'Ann') => ({
  promptVersionId: hello,
  inputs: { textInputs: { name } },
});

describe('POST /runs: success', () => {
  test('answers with run id, outputs, status and tokens, and nothing else', async () => {
    const { http, data } = await create(helloRequest());
    expect(http).toBe(200);
    expect(data).toEqual({
      runId: expect.any(String) as string,
      outputs: [{ type: 'text', data: 'Hello, Ann! A pleasant day to you.' }],
      runStatus: 'succeeded',
      tokens: expect.any(Number) as number,
    });
    expect(data.tokens).toBeGreaterThan(0);
  });

  test('takes the default of an input that is left out', async () => {
    await service.publish(
      'mood',
      '---\ninput:\n  schema:\n    mood?: string\n  default:\n    mood: calm\n---\n{{mood}}',
    );
    const mood = await service.versionOf('mood');
    const { data } = await create({ promptVersionId: mood, inputs: {} });
    expect(data.outputs).toEqual([{ type: 'text', data: 'calm' }]);
  });

  test('returns a failed run as a success of the request', async () => {
    const { http, data } = await create({
      promptVersionId: sandbox,
      inputs: {},
      runOptions: { outcome: 'failed' },
    });
    expect(http).toBe(200);
    expect(data).toMatchObject({ runStatus: 'failed', tokens: 0, outputs: [{ type: 'error' }] });
  });

  test('returns text and error of a run that succeeded in part', async () => {
    const { data } = await create({
      promptVersionId: sandbox,
      inputs: {},
      runOptions: { outcome: 'partial' },
    });
    expect(data).toMatchObject({
      runStatus: 'succeeded',
      outputs: [{ type: 'text' }, { type: 'error' }],
    });
  });

  test('takes a picture as base64', async () => {
    const image = { type: 'base64', base64: png(3, 2).toString('base64') };
    const { data } = await create({
      promptVersionId: describeImage,
      inputs: { imageInputs: [image] },
    });
    expect(data.outputs[0]?.data).toContain('3 × 2');
  });

  test('takes a promptVersionId in capital letters', async () => {
    expect((await create({ ...helloRequest(), promptVersionId: hello.toUpperCase() })).http).toBe(
      200,
    );
  });

  test.each(['text/plain', 'json', 'application/json, text/plain', ''])(
    'takes the body as JSON whatever its content type says: %j',
    async type => {
      const { http } = await service.post('/runs', helloRequest(), {
        headers: { 'content-type': type },
      });
      expect(http).toBe(200);
    },
  );

  test.each([
    ['at the top', () => ({ ...helloRequest(), extra: 1 })],
    [
      'in the inputs',
      () => ({ ...helloRequest(), inputs: { textInputs: { name: 'Ann' }, videoInputs: 7 } }),
    ],
    [
      'as a text input',
      () => ({ ...helloRequest(), inputs: { textInputs: { name: 'Ann', other: 'x' } } }),
    ],
  ])('ignores a field that is not listed: %s', async (_, body) => {
    expect((await create(body())).http).toBe(200);
  });

  test.each(['__proto__', 'constructor', 'toString'])(
    'an input named %s is an input like any other',
    async key => {
      const source = `---\ninput:\n  schema:\n    "${key}": string\n---\n<{{${key}}}>`;
      await service.publish(`odd-${key.replaceAll('_', '')}`, source);
      const promptVersionId = await service.versionOf(`odd-${key.replaceAll('_', '')}`);
      const missing = await service.post('/runs', { promptVersionId, inputs: { textInputs: {} } });

      expect(missing.message).toBe(`the input ${key} is required`);

      const body = `{"promptVersionId":"${promptVersionId}","inputs":{"textInputs":{"${key}":"in"}}}`;
      const { data } = await create(body);

      expect(data.outputs).toEqual([{ type: 'text', data: '<in>' }]);
    },
  );
});

describe('POST /runs: 422 VALIDATION_ERROR names the field and the rule', () => {
  const describeRequest = (input: object) => ({
    promptVersionId: describeImage,
    inputs: { imageInputs: [input] },
  });

  const cases: [string, () => unknown, string][] = [
    ['no object: a list', () => [], 'the body must be an object'],
    ['no object: a text', () => '"x"', 'the body must be an object'],
    ['no object: null', () => 'null', 'the body must be an object'],
    ['no promptVersionId', () => ({ inputs: {} }), 'promptVersionId is required'],
    [
      'a promptVersionId that is a number',
      () => ({ promptVersionId: 5, inputs: {} }),
      'promptVersionId must be a string',
    ],
    [
      'a promptVersionId that is not a UUID',
      () => ({ promptVersionId: 'x', inputs: {} }),
      'promptVersionId must be a UUID',
    ],
    [
      'a promptVersionId with more to it',
      () => ({ promptVersionId: `urn:uuid:${hello}`, inputs: {} }),
      'promptVersionId must be a UUID',
    ],
    ['no inputs', () => ({ promptVersionId: hello }), 'inputs is required'],
    [
      'inputs that are null',
      () => ({ promptVersionId: hello, inputs: null }),
      'inputs must be an object',
    ],
    [
      'inputs that are a list',
      () => ({ promptVersionId: hello, inputs: [] }),
      'inputs must be an object',
    ],
    [
      'a required input missing',
      () => ({ promptVersionId: hello, inputs: {} }),
      'the input name is required',
    ],
    [
      'a text that is a number',
      () => ({ promptVersionId: hello, inputs: { textInputs: { name: 5 } } }),
      'inputs.textInputs.name must be a string',
    ],
    [
      'a text that is null',
      () => ({ promptVersionId: hello, inputs: { textInputs: { name: null } } }),
      'inputs.textInputs.name must be a string',
    ],
    [
      'texts that are a list',
      () => ({ promptVersionId: hello, inputs: { textInputs: ['a'] } }),
      'inputs.textInputs must be an object',
    ],
    [
      'an enum value that is not listed',
      () => ({
        promptVersionId: postcard,
        inputs: { textInputs: { place: 'Oslo', mood: 'foggy' } },
      }),
      'the input mood must be one of sunny, rainy, snowy',
    ],
    [
      'a picture too many',
      () => ({
        ...helloRequest(),
        inputs: {
          textInputs: { name: 'A' },
          imageInputs: [{ type: 'url', url: 'https://example.com/a.png' }],
        },
      }),
      'inputs.imageInputs must hold 0 images, not 1',
    ],
    [
      'a picture too few',
      () => ({ promptVersionId: describeImage, inputs: {} }),
      'inputs.imageInputs must hold 1 image, not 0',
    ],
    [
      'pictures that are not a list',
      () => ({ promptVersionId: describeImage, inputs: { imageInputs: {} } }),
      'inputs.imageInputs must be an array',
    ],
    [
      'a picture of an unknown type',
      () => describeRequest({ type: 'file' }),
      'inputs.imageInputs[0].type must be one of url, base64',
    ],
    [
      'a picture without a type',
      () => describeRequest({ url: 'https://example.com' }),
      'inputs.imageInputs[0].type is required',
    ],
    [
      'a URL picture without a URL',
      () => describeRequest({ type: 'url' }),
      'inputs.imageInputs[0].url is required',
    ],
    [
      'a base64 picture without base64',
      () => describeRequest({ type: 'base64', url: 'x' }),
      'inputs.imageInputs[0].base64 is required',
    ],
    [
      'a picture by plain http',
      () => describeRequest({ type: 'url', url: 'http://example.com/a.png' }),
      'inputs.imageInputs[0].url: ',
    ],
    [
      'a picture on loopback',
      () => describeRequest({ type: 'url', url: 'https://127.0.0.1/a.png' }),
      'inputs.imageInputs[0].url: ',
    ],
    [
      'a data URL as base64',
      () =>
        describeRequest({
          type: 'base64',
          base64: `data:image/png;base64,${png(1, 1).toString('base64')}`,
        }),
      'inputs.imageInputs[0].base64: ',
    ],
    [
      'base64 that does not decode',
      () => describeRequest({ type: 'base64', base64: '%%%' }),
      'inputs.imageInputs[0].base64: ',
    ],
    [
      'base64 that is not a picture',
      () => describeRequest({ type: 'base64', base64: Buffer.from('text').toString('base64') }),
      'inputs.imageInputs[0].base64: ',
    ],
    [
      'a run option the model has not',
      () => ({ ...helloRequest(), runOptions: { quality: 'low' } }),
      'runOptions.quality is not a run option of the model echo',
    ],
    [
      'a run option named like a method',
      () => ({ ...helloRequest(), runOptions: { constructor: 'low' } }),
      'runOptions.constructor is not a run option of the model echo',
    ],
    [
      'a run option value that is not listed',
      () => ({ promptVersionId: sandbox, inputs: {}, runOptions: { delaySeconds: '2' } }),
      'runOptions.delaySeconds must be one of 0, 1, 5, 30, 130',
    ],
    [
      'a run option that is a number',
      () => ({ promptVersionId: sandbox, inputs: {}, runOptions: { delaySeconds: 1 } }),
      'runOptions.delaySeconds must be a string',
    ],
    [
      'run options that are null',
      () => ({ ...helloRequest(), runOptions: null }),
      'runOptions must be an object',
    ],
  ];

  test.each(cases)('%s', async (_, body, message) => {
    const answer = await service.post('/runs', body());
    expect(answer).toMatchObject({ http: 422, status: 'VALIDATION_ERROR', data: null });
    expect(answer.message).toContain(message);
  });

  test('a refused creation creates nothing', async () => {
    const key = await createKeyIn(service.dataDir, { user: 'refused' });
    await service.post('/runs', { promptVersionId: hello, inputs: {} }, { key });
    expect(await service.data<RunPage>('/runs', { key })).toEqual({ rows: [], hasMore: false });
  });
});

describe('POST /runs: other errors', () => {
  test.each(['{', '', 'a=b', '{"a":1}}', '\u0000'])(
    '400 for a body that is not JSON: %j',
    async body => {
      expect(await service.post('/runs', body)).toMatchObject({
        http: 400,
        status: 'BAD_REQUEST_ERROR',
        data: null,
      });
    },
  );

  test('400 for no body at all', async () => {
    expect(await service.call('POST', '/runs')).toMatchObject({
      http: 400,
      status: 'BAD_REQUEST_ERROR',
    });
  });

  test('404 for a prompt version that does not exist, whatever its inputs', async () => {
    const promptVersionId = '00000000-0000-4000-8000-000000000000';
    expect(await service.post('/runs', { promptVersionId, inputs: {} })).toMatchObject({
      http: 404,
      status: 'NOT_FOUND_ERROR',
      data: null,
    });
  });

  test('413 for a body over 64 MiB', async () => {
    const body = JSON.stringify({ ...helloRequest(), filler: 'x'.repeat(64 * 1024 * 1024) });
    expect(await service.post('/runs', body)).toMatchObject({
      http: 413,
      status: 'PAYLOAD_TOO_LARGE_ERROR',
    });
  });

  test.each([
    { sender: 'with a key', hasKey: true, status: 413, message: '64 MiB' },
    { sender: 'without a key', hasKey: false, status: 401, message: 'key' },
  ])(
    'the answer reaches a caller $sender that is still sending',
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

  test('402 when the balance is lower than the run costs, and nothing is taken', async () => {
    const key = await createKeyIn(service.dataDir, { user: 'poor', credits: 1 });
    const place = { promptVersionId: postcard, inputs: { textInputs: { place: 'Oslo' } } };
    const refused = await service.post('/runs', place, { key });
    expect(refused).toMatchObject({ http: 402, status: 'PAYMENT_REQUIRED_ERROR', data: null });
    expect(await service.data('/me/credits', { key })).toEqual({ credits: 1 });
    expect((await service.post('/runs', helloRequest(), { key })).http).toBe(200);
    expect(await service.data('/me/credits', { key })).toEqual({ credits: 0 });
  });

  test('a run is paid for once if it succeeds, and not at all if it fails', async () => {
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
