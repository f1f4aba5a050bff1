import { createServer, type Server, request as sendRequest } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { EngineResult } from '../../../src/models/engine.ts';
import { createEngines } from '../../../src/models/engines.ts';
import type { ModelEntry, Provider } from '../../../src/models/model-entry.ts';
import { createProviderEngine } from '../../../src/models/providers/provider-engine.ts';
import { listKnownProviders } from '../../../src/models/providers/providers.ts';
import { png } from '../../support/png.ts';
import { FakeProvider, type ProviderAnswer } from '../../support/providers/fake-provider.ts';
import { createJob, type JobOptions, providerAt } from '../job.ts';

const matching = (pattern: RegExp): unknown => expect.stringMatching(pattern) as unknown;

const KEY = 'sk-secret-0123456789';
let provider: FakeProvider;

beforeEach(async () => {
  provider = await FakeProvider.start();
});

afterEach(() => provider.close());

function ask(
  model: Partial<ModelEntry>,
  job: JobOptions = {},
  env: Record<string, string> = { KEY },
): Promise<EngineResult> {
  const entry: Partial<ModelEntry> = {
    model: 'clever',
    engine: 'provider',
    provider: providerAt(provider.baseUrl, { keyVariable: 'KEY' }),
    ...model,
  };
  return createEngines({ dataDir: 'nowhere', env }).provider.run(
    createJob({ ...job, model: entry }),
  );
}

function findKnownProvider(name: string, env: Record<string, string>): Provider {
  const provider = listKnownProviders(env).find(known => known.name === name);
  if (!provider) throw new Error(`${name} is not known`);
  return provider;
}

const chatCompletion = (content: string | null, more: object = {}): ProviderAnswer => ({
  body: {
    choices: [{ message: { role: 'assistant', content, ...more } }],
    usage: { total_tokens: 42 },
  },
});

describe("a prompt's own tools", () => {
  const calls = [
    { id: 'call_1', type: 'function', function: { name: 'look_up', arguments: '{}' } },
  ];
  const message = { role: 'assistant', content: 'Wait.', tool_calls: calls };

  it.each([
    ['alone', chatCompletion(null, { tool_calls: calls }), calls],
    ['beside a text', chatCompletion('Wait.', { tool_calls: calls }), message],
    ['in their former form', chatCompletion(null, { function_call: { name: 'f' } }), { name: 'f' }],
  ])('are sent, and their calls %s are the answer as JSON', async (_, answer, expected) => {
    provider.reset(answer);
    const runOptions = { tools: [{ type: 'function', function: { name: 'look_up' } }] };
    const { outputs, hasFailed } = await ask({}, { runOptions, onText: () => undefined });

    expect(provider.body()).toMatchObject(runOptions);
    expect(provider.body()).not.toHaveProperty('stream');
    expect({ hasFailed, outputs }).toEqual({
      hasFailed: false,
      outputs: [{ type: 'text', text: JSON.stringify(expected) }],
    });
  });

  it('are sent to Chat Completions in its form, also by a provider of Responses', async () => {
    const runOptions = { tools: [{ type: 'function', function: { name: 'look_up' } }] };
    provider.reset(chatCompletion(null, { tool_calls: calls }));
    const responses = providerAt(provider.baseUrl, {
      keyVariable: 'KEY',
      interfaceName: 'openai-responses',
    });
    const { outputs } = await ask({ provider: responses }, { runOptions });

    expect(provider.requests[0]).toMatchObject({ path: '/v1/chat/completions' });
    expect(provider.body()).toMatchObject(runOptions);
    expect(outputs).toEqual([{ type: 'text', text: JSON.stringify(calls) }]);
  });
});

describe('a text model', () => {
  it('is asked with roles, and its answer is the output', async () => {
    provider.reset(chatCompletion('Bonjour'));
    const template = '{{role "system"}}Be brief.{{role "user"}}Hello{{role "model"}}Well,';
    const result = await ask(
      { id: 'clever-2' },
      {
        template,
        runOptions: { reasoningEffort: 'low', temperature: '0.5', maxOutputTokens: '9' },
      },
    );

    expect(result).toEqual({
      outputs: [{ type: 'text', text: 'Bonjour' }],
      tokens: 42,
      hasFailed: false,
    });

    expect(provider.requests[0]).toMatchObject({
      path: '/v1/chat/completions',
      headers: { authorization: `Bearer ${KEY}` },
    });
    expect(provider.body()).toEqual({
      model: 'clever-2',
      messages: [
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: 'Hello' },
        { role: 'assistant', content: 'Well,' },
      ],
      reasoning_effort: 'low',
      temperature: 0.5,
      max_tokens: 9,
    });
  });

  it.each([
    ['gpt-3.5-turbo-0125', 'json_object'],
    ['ft:gpt-3.5-turbo-0125:acme::abc', 'json_object'],
    ['gpt-4', 'json_object'],
    ['gpt-4-0613', 'json_object'],
    ['gpt-4-turbo-2024-04-09', 'json_object'],
    ['gpt-4o-2024-05-13', 'json_object'],
    ['gpt-4o-mini-2024-07-18', 'json_schema'],
    ['gpt-4o-2024-08-06', 'json_schema'],
    ['gpt-4.1', 'json_schema'],
  ])('%s is asked for JSON by %s', async (id, type) => {
    provider.reset(chatCompletion('{}'));
    const openAi = providerAt(provider.baseUrl, { name: 'openai', keyVariable: 'KEY' });
    await ask({ id, provider: openAi }, { json: { schema: { type: 'object' } } });
    expect(provider.body()).toMatchObject({ response_format: { type } });
  });

  it.each([
    ['gpt-4-turbo', 'json_object'],
    ['gpt-4o', 'json_schema'],
  ])('%s is asked for JSON by %s at Responses, too', async (id, type) => {
    provider.reset(chatCompletion('{}'));
    const responses = providerAt(provider.baseUrl, {
      keyVariable: 'KEY',
      interfaceName: 'openai-responses',
    });
    await ask({ id, provider: responses }, { json: { schema: { type: 'object' } } });
    expect(provider.body()).toMatchObject({ text: { format: { type } } });
  });

  it('is shown pictures in their place', async () => {
    provider.reset(chatCompletion('A grey square'));
    const picture = png(2, 2);
    await ask({}, { template: 'See {{media url=p}} this', images: [picture] });
    expect(provider.body()).toMatchObject({
      messages: [
        {
          role: 'user',
          content: [
            { type: 'text', text: 'See ' },
            {
              type: 'image_url',
              image_url: { url: `data:image/png;base64,${picture.toString('base64')}` },
            },
            { type: 'text', text: ' this' },
          ],
        },
      ],
    });
  });

  it('without a key is asked without one', async () => {
    provider.reset(chatCompletion('Hi'));
    await ask(
      { provider: providerAt(provider.baseUrl, { name: 'own' }) },
      {},
      { OPENAI_API_KEY: KEY },
    );
    expect(provider.requests[0]?.headers.authorization).toBeUndefined();
  });

  it('estimates tokens if the endpoint does not count', async () => {
    provider.reset({ body: { choices: [{ message: { content: 'twelve chars' } }] } });
    expect((await ask({})).tokens).toBe(5);
  });

  it.each([
    [chatCompletion(null), /without text/],
    [chatCompletion(null, { refusal: "I'd rather not" }), /refused: I'd rather not/],
    [{ body: {} }, /without text/],
    [{ body: { choices: [] } }, /without text/],
    [
      { status: 400, body: { error: { message: 'bad\n  parameter' } } },
      /^corner answered 400 bad parameter$/,
    ],
    [
      { status: 404, body: { error: { message: 'no such model' } } },
      /^corner answered 404 no such model: check its baseUrl/,
    ],
    [{ status: 200, body: Buffer.from('<html>') }, /^corner answered with a web page/],
  ])('that fails becomes an error output: %j', async (answer, message) => {
    provider.reset(answer);
    const result = await ask({});
    expect(result).toMatchObject({
      outputs: [{ type: 'error', message: matching(message) }],
      tokens: 0,
      hasFailed: true,
    });
  });

  it('never shows a key in its errors', async () => {
    provider.reset({
      status: 401,
      body: {
        error: { message: `Incorrect API key provided: ${KEY}, or sk-pro***5678. Bearer abcdef12` },
      },
    });

    const text = JSON.stringify(await ask({}));
    expect(text).toContain('401 Incorrect API key provided');
    expect(text).not.toMatch(/secret|5678|abcdef/);
  });

  it('may answer in parts', async () => {
    provider.reset({
      body: {
        choices: [{ message: { content: [{ type: 'thinking' }, { type: 'text', text: 'Hi' }] } }],
      },
    });
    expect((await ask({})).outputs).toEqual([{ type: 'text', text: 'Hi' }]);
  });

  it('at an invalid address says so, without its password', async () => {
    for (const [url, reason] of [
      ['http//nowhere', /^gone can't be reached at an address that is not a URL: /],
      ['http://ada:secret@127.0.0.1:9/v1', /^gone can't be reached at 127\.0\.0\.1:9: /],
    ] as const) {
      const result = await ask({ provider: providerAt(url, { name: 'gone' }) }, {}, {});
      expect(result).toMatchObject({
        hasFailed: true,
        outputs: [{ type: 'error', message: matching(reason) }],
      });
      expect(JSON.stringify(result)).not.toContain('secret');
    }
  });

  it('that never answers fails the run', async () => {
    provider.reset(() => undefined);
    const job = createJob({
      model: { engine: 'provider', provider: providerAt(provider.baseUrl) },
    });
    const { outputs } = await createProviderEngine({}, { timeoutMs: 60 }).run(job);
    expect(outputs).toEqual([
      {
        type: 'error',
        message:
          'corner gave no complete answer in 0.001 minutes: try again later, or ask for less',
      },
    ]);
  });

  it('is asked again when it is busy', async () => {
    const busy = {
      status: 429,
      headers: { 'retry-after-ms': '1' },
      body: { error: { message: 'busy' } },
    };
    provider.reset(
      busy,
      busy,
      { ...busy, headers: { 'retry-after': '7' } },
      chatCompletion('At last'),
    );
    const waits: number[] = [];
    const sleep = async (ms: number): Promise<void> => void waits.push(ms);

    expect((await ask({}, { sleep })).outputs).toEqual([{ type: 'text', text: 'At last' }]);
    expect(waits).toEqual([1, 1, 7000]);
  });

  it.each([500, 503, 408])(
    'is not asked again after %i: an answer may have been made and paid for',
    async status => {
      provider.reset({ status, body: { error: { message: 'broken' } } }, chatCompletion('Twice'));
      expect((await ask({})).hasFailed).toBe(true);
      expect(provider.requests).toHaveLength(1);
    },
  );

  it('whose key is missing is not asked', async () => {
    const { outputs } = await ask({}, {}, {});
    expect(outputs).toMatchObject([{ type: 'error', message: 'no key for corner: set KEY' }]);
    expect(provider.requests).toEqual([]);
  });

  it("that can't be reached names its address", async () => {
    const { outputs } = await ask({
      provider: providerAt('http://127.0.0.1:9/v1', { name: 'gone' }),
    });
    expect(outputs[0]).toMatchObject({
      type: 'error',
      message: matching(/^gone can't be reached at 127\.0\.0\.1:9: .*is its server running/),
    });
  });

  it.each([
    [
      'ollama',
      { OLLAMA_HOST: '127.0.0.1:9' },
      /is its server running, and is OLLAMA_HOST right\?$/,
    ],
    ['ollama', { OLLAMA_BASE_URL: 'http://127.0.0.1:9' }, /, and is OLLAMA_BASE_URL right\?$/],
    ['openai', { OPENAI_BASE_URL: 'http://127.0.0.1:9/v1' }, /, and is OPENAI_BASE_URL right\?$/],
  ])('%s under %j names the variable that its address comes from', async (name, env, message) => {
    const { outputs } = await ask({ provider: findKnownProvider(name, env) }, {}, env);
    expect(outputs[0]).toMatchObject({ type: 'error', message: matching(message) });
  });

  it('on this machine, to which a variable leads, names the key to set if the server wants one', async () => {
    provider.reset({ status: 401, body: { error: { message: 'who are you?' } } });
    const env = { OPENAI_BASE_URL: provider.baseUrl };
    const { outputs, fault } = await ask({ provider: findKnownProvider('openai', env) }, {}, env);
    expect(fault).toBe('unauthorised');
    expect(outputs[0]).toMatchObject({
      message: 'openai answered 401 who are you?: it requires a key: set OPENAI_API_KEY',
    });
  });

  it('closes its request when the run stops', async () => {
    const stop = new AbortController();
    provider.reset(() => stop.abort(new Error('stopping')));
    await expect(ask({}, { signal: stop.signal })).rejects.toThrow('stopping');
  });
});

describe('behind a proxy', () => {
  let proxy: Server;
  let tunnels: string[];

  /** Leads every request and every tunnel to the server of the test, whatever it was asked for. */
  beforeEach(async () => {
    tunnels = [];

    proxy = createServer((request, response) => {
      tunnels.push(request.url ?? '');
      const { pathname } = new URL(request.url ?? '');
      const { method, headers } = request;
      const onward = sendRequest(
        new URL(pathname, provider.baseUrl),
        { method, headers },
        answer => {
          response.writeHead(answer.statusCode ?? 500, answer.headers);
          answer.pipe(response);
        },
      );
      request.pipe(onward);
    });

    proxy.on('connect', (request, client) => {
      tunnels.push(request.url ?? '');
      const upstream = connect(Number(new URL(provider.baseUrl).port), '127.0.0.1', () => {
        client.write('HTTP/1.1 200 OK\r\n\r\n');
        upstream.pipe(client).pipe(upstream);
      });
      for (const socket of [client, upstream]) socket.on('error', () => undefined);
    });

    await new Promise<void>(resolve => proxy.listen(0, '127.0.0.1', resolve));
  });

  afterEach(async () => {
    proxy.closeAllConnections();
    await new Promise(resolve => proxy.close(resolve));
  });

  const remoteModel = { provider: providerAt('http://models.example/v1', { name: 'far' }) };
  const getProxyAddress = (): string => `127.0.0.1:${(proxy.address() as AddressInfo).port}`;

  it('a model is asked through it', async () => {
    provider.reset(chatCompletion('Hi'));
    expect((await ask(remoteModel, {}, { http_proxy: getProxyAddress() })).outputs).toEqual([
      { type: 'text', text: 'Hi' },
    ]);
    expect(tunnels).toEqual(['http://models.example/v1/chat/completions']);
  });

  it('pictures go through it too', async () => {
    provider.reset({ body: { data: [{ b64_json: png(3, 3).toString('base64') }] } });
    const job = { template: 'Brighter: {{media url=a}}', images: [png(1, 1)] };
    expect(
      await ask({ ...remoteModel, modality: 'image' }, job, {
        HTTP_PROXY: `http://${getProxyAddress()}`,
      }),
    ).toMatchObject({ hasFailed: false });
    expect(provider.requests[0]?.text).toContain('name="image"; filename=');
    expect(tunnels).toHaveLength(1);
  });

  it('a model on this machine is asked directly', async () => {
    provider.reset(chatCompletion('Hi'));
    expect((await ask({}, {}, { KEY, HTTP_PROXY: 'http://127.0.0.1:9' })).hasFailed).toBe(false);
  });
});

describe('an image model', () => {
  const model = { modality: 'image' } as const;
  const picture = png(3, 3);

  it('draws from the text, with its options', async () => {
    provider.reset({
      body: { data: [{ b64_json: picture.toString('base64') }], usage: { total_tokens: 7 } },
    });
    const template = '{{role "system"}}In oil.{{role "user"}}A house';
    const result = await ask(model, {
      template,
      runOptions: { quality: 'high', aspectRatio: '16:9', backgroundColour: 'red' },
    });

    expect(result).toEqual({
      outputs: [{ type: 'image', bytes: picture, mediaType: 'image/png' }],
      tokens: 7,
      hasFailed: false,
    });

    expect(provider.requests[0]?.path).toBe('/v1/images/generations');
    expect(provider.body()).toEqual({
      model: 'clever',
      prompt: 'In oil.\n\nA house',
      quality: 'high',
      size: '1536x1024',
      background_colour: 'red',
      n: 1,
    });
  });

  it('edits the pictures of a prompt', async () => {
    provider.reset({ body: { data: [{ b64_json: picture.toString('base64') }] } });
    const template = 'Brighter: {{media url=a}}{{media url=b}}';
    await ask(model, { template, images: [png(1, 1), png(2, 2)] });

    expect(provider.requests[0]?.path).toBe('/v1/images/edits');
    expect(provider.requests[0]?.headers['content-type']).toMatch(/^multipart\/form-data/);
    expect(provider.requests[0]?.text.match(/name="image(?:\[\])?"; filename=/g)).toHaveLength(2);
    expect(provider.requests[0]?.text).toContain('Brighter: ');
    expect(provider.requests[0]?.text.match(/PNG/g)).toHaveLength(2);
  });

  it('may name its own URL', async () => {
    provider.reset(
      { body: { data: [{ url: `${provider.baseUrl}/made.png` }] } },
      { body: picture },
    );
    expect((await ask(model)).outputs).toEqual([
      { type: 'image', bytes: picture, mediaType: 'image/png' },
    ]);
    expect(provider.requests[1]).toMatchObject({ path: '/v1/made.png' });
    expect(provider.requests[1]?.headers.authorization).toBeUndefined();
  });

  it.each([
    [{ data: [] }, /without a picture/],
    [{}, /without a picture/],
    [{ data: [{ b64_json: 'aGVsbG8=' }] }, /not a picture/],
    [{ data: [{ url: 'http://127.0.0.1:1/x.png' }] }, /https/],
    [{ data: [{ url: 'https://10.0.0.1/x.png' }] }, /public/],
    [{ data: [{}] }, /URL/],
  ])('without a picture fails the run: %j', async (image, message) => {
    provider.reset({ body: image });
    expect(await ask(model)).toMatchObject({
      hasFailed: true,
      outputs: [{ type: 'error', message: matching(message) }],
    });
  });
});
