import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { text as textOf } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  type EmbeddedService,
  type LocalStore,
  openStore,
  startEmbedded,
} from '../../../src/service/index.ts';
import type { TextPiece } from '../../../src/service/runs/text-feed.ts';
import { HandClock } from '../../support/hand-clock.ts';
import { temporaryDataDir } from '../../support/local-service.ts';
import { png } from '../../support/pictures.ts';
import {
  chatAnswer,
  FakeProvider,
  type ProviderAnswer,
  type ProviderHandler,
} from '../../support/providers/fake-provider.ts';

interface Run {
  runId: string;
  runStatus: string;
  outputs: { type: string; data: string }[];
  tokens: number;
}

const KEY = 'sk-corner-0123456789';
let provider: FakeProvider;
let service: EmbeddedService;
let store: LocalStore;
let dataDir: string;
const notices: string[] = [];

beforeAll(async () => {
  provider = await FakeProvider.start();
  dataDir = temporaryDataDir();
  store = await openStore({ dataDir, env: {} });
  writeFileSync(path.join(dataDir, 'models.yaml'), modelsFile());
  service = await startEmbedded({
    dataDir,
    env: { CORNER_KEY: KEY, SHORT_KEY: 'answer' },
    onNotice: line => void notices.push(line),
  });
});

afterAll(async () => {
  await store.close();
  await service.close();
  await provider.close();
});

function modelsFile(): string {
  return `
providers:
  corner: {baseUrl: "${provider.baseUrl}", apiKeyEnv: CORNER_KEY, headers: {X-Title: tests}}
  short: {baseUrl: "${provider.baseUrl}", apiKeyEnv: SHORT_KEY}
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

const ASK = 'Say hi';

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

const prompt = (head: string, template = ASK): string => `---\n${head}\n---\n${template}`;
const clever = (answer: ProviderAnswer | ProviderHandler): Promise<Run> =>
  run(prompt('model: clever'), [answer]);

/** Writes server-sent events, and ends in the given way. */
function streaming(events: unknown[], end: 'whole' | 'cut' | 'silent' = 'whole'): ProviderHandler {
  return response => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    for (const event of events) response.write(`data: ${JSON.stringify(event)}\n\n`);
    if (end === 'whole') response.end('data: [DONE]\n\n');
    else if (end === 'silent') response.end();
    else response.write('data: {"choi', () => response.destroy());
  };
}

const delta = (content: string, more: object = {}): object => ({
  choices: [{ delta: { content }, ...more }],
});

describe("a provider's answer that is not whole", () => {
  it.each<[string, ProviderAnswer, (string | RegExp)[]]>([
    [
      'cut off at its limit',
      chatAnswer('Once upon', { finish_reason: 'length' }),
      ['Once upon', /token limit.*raise maxOutputTokens/],
    ],
    [
      'filtered',
      chatAnswer('Well,', { finish_reason: 'content_filter' }),
      ['Well,', /content filter.*change the prompt/],
    ],
    [
      'thought away',
      chatAnswer('', { finish_reason: 'length', message: { content: '', reasoning_content: 'hm' } }),
      [/used its whole token limit for thinking.*raise maxOutputTokens/],
    ],
    [
      'a call of a tool',
      chatAnswer(null, {
        finish_reason: 'tool_calls',
        message: { content: null, tool_calls: [{ function: { name: 'look_up' } }] },
      }),
      [/asked for the tool look_up.*call no tools/],
    ],
    [
      'refused',
      chatAnswer(null, { message: { content: null, refusal: "I'd rather not" } }),
      [/^corner's model refused: I'd rather not; it may have been paid for: change the prompt/],
    ],
    ['empty', chatAnswer(''), [/answered without text; it may have been paid for: run it again/]],
    [
      'an error within a success',
      { body: { error: { message: 'upstream is down', code: 502 } } },
      [/answered with an error: upstream is down/],
    ],
    [
      'an error at the end of a text',
      chatAnswer('Once', { finish_reason: 'error', error: { message: 'overloaded' } }),
      ['Once', /ended its answer with an error: overloaded/],
    ],
    [
      'a web page',
      { headers: { 'content-type': 'text/html' }, body: '<!doctype html><p>Welcome' },
      [/web page.*check its baseUrl/],
    ],
    ['nothing at all', { body: '' }, [/sent an empty answer/]],
    ['no JSON', { body: 'hello' }, [/not a JSON object: hello/]],
    ['a list', { body: [] }, [/not a JSON object/]],
    ['without choices', { body: { id: 'x' } }, [/answered without text/]],
  ])('is a failed run that says what to do: %s', async (_, answer, wanted) => {
    const { runStatus, outputs } = await clever(answer);
    expect(runStatus).toBe('failed');
    expect(outputs.map(({ type }) => type)).toEqual([...wanted.slice(1).map(() => 'text'), 'error']);
    for (const [index, expected] of wanted.entries()) expect(outputs[index]?.data).toMatch(expected);
    expect(provider.requests).toHaveLength(1);
  });

  it('keeps the text that came before it broke off', async () => {
    const { runStatus, outputs } = await clever(response => {
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': '500' });
      response.write('{"choices": [', () => response.destroy());
    });
    expect(runStatus).toBe('failed');
    expect(outputs[0]?.data).toMatch(
      /^corner ended its answer before it was complete; it may have been paid for: run it again$/,
    );
  });

  it('is not read to the end if it never ends', async () => {
    const chunk = Buffer.alloc(4 * 1024 * 1024, 'a');
    let sent = 0;
    const { outputs } = await clever(response => {
      response.writeHead(200, { 'content-type': 'application/json' });
      const more = (fault?: Error | null): void => {
        if (fault) return;
        sent += 1;
        if (sent < 200 && !response.destroyed) response.write(chunk, more);
      };
      more();
    });
    expect(outputs[0]?.data).toMatch(/larger than 64 MiB/);
    expect(sent).toBeLessThan(40);
  });
});

describe("a provider's refusal", () => {
  it('of more than can be shown names the bound', async () => {
    const { outputs } = await clever(response => response.writeHead(400).end('a'.repeat(300 * 1024)));
    expect(outputs[0]?.data).toContain('it is larger than 256 KiB');
  });

  it.each<[string, ProviderAnswer, RegExp]>([
    [
      'of the key',
      { status: 401, body: { error: { message: `Incorrect API key provided: ${KEY}` } } },
      /answered 401 Incorrect API key provided: \*\*\*: it refuses the key/,
    ],
    [
      'without `error`',
      { status: 422, body: { detail: [{ loc: ['body', 'top_k'], msg: 'extra fields not permitted' }] } },
      /answered 422 extra fields not permitted \(body\.top_k\)/,
    ],
    ['in a `detail`', { status: 400, body: { detail: 'no such model' } }, /answered 400 no such model/],
    [
      'in a `message`',
      { status: 400, body: { object: 'error', message: 'context too long', code: 400 } },
      /answered 400 context too long/,
    ],
    ['in plain text', { status: 500, body: 'oh no' }, /answered 500 oh no: the fault is on its side/],
    ['as a page', { status: 502, body: '<html><h1>Bad gateway</h1>' }, /answered 502 with a web page/],
    [
      'that names a tag',
      { status: 400, body: { error: { message: '<body> of the request is missing' } } },
      /answered 400 <body> of the request is missing/,
    ],
    ['without a word', { status: 503, body: '' }, /answered 503 \(no reason given\)/],
    [
      'of the path',
      { status: 404, body: { error: 'page not found' } },
      /answered 404 page not found: check its baseUrl/,
    ],
    [
      'of the quota',
      {
        status: 429,
        body: { error: { code: 'insufficient_quota', message: 'You exceeded your current quota' } },
      },
      /quota of the account is used up/,
    ],
    [
      'for longer than a minute',
      { status: 429, headers: { 'retry-after': '61' }, body: {} },
      /busy: try again later/,
    ],
    [
      'by a redirect',
      { status: 307, headers: { location: 'http://127.0.0.1:1/v1' } },
      /redirects to http:\/\/127\.0\.0\.1:1 .*redirects are not followed/,
    ],
    [
      'of `response_format`',
      { status: 400, body: { error: { message: 'response_format is not supported' } } },
      /responseFormat: none/,
    ],
  ])('%s is a failed run that says what to do, asked once', async (_, answer, message) => {
    const { runStatus, outputs } = await clever(answer);
    expect(runStatus).toBe('failed');
    expect(outputs).toEqual([{ type: 'error', data: expect.stringMatching(message) as string }]);
    expect(JSON.stringify(outputs)).not.toContain(KEY);
    expect(provider.requests.filter(({ method }) => method === 'POST')).toHaveLength(1);
  });

  it('for being busy is asked again three times', async () => {
    const busy: ProviderAnswer = {
      status: 429,
      headers: { 'retry-after-ms': '1' },
      body: { error: { message: 'slow down' } },
    };
    expect((await run(prompt('model: clever'), [busy, busy, busy, chatAnswer('At last')])).outputs).toEqual([
      { type: 'text', data: 'At last' },
    ]);
    const { runStatus } = await clever(busy);
    expect(runStatus).toBe('failed');
    expect(provider.requests).toHaveLength(4);
  });

  it('of a parameter names no other models, though its words speak of the model', async () => {
    const message = "Unsupported parameter: 'logprobs' is not supported with this model.";
    const { outputs } = await clever((response, { method }) => {
      const body = method === 'GET' ? { data: [{ id: 'tiny' }] } : { error: { message, param: 'logprobs' } };
      response
        .writeHead(method === 'GET' ? 200 : 400, { 'content-type': 'application/json' })
        .end(JSON.stringify(body));
    });
    expect(outputs[0]?.data).toContain(message);
    expect(outputs[0]?.data).not.toContain('it has tiny');
  });

  it('is not garbled by a key that is a short word', async () => {
    const { outputs } = await run(prompt('model: short'), [
      { status: 401, body: { error: { message: 'no answer: invalid key provided: "answer"' } } },
    ]);
    expect(outputs[0]?.data).toMatch(/^short answered 401 no answer: invalid key provided: "\*\*\*"/);
  });

  it('of the connection names the address and what to check', async () => {
    const { outputs } = await run(prompt('model: closed'), []);
    expect(outputs[0]?.data).toMatch(/^closed can't be reached at 127\.0\.0\.1:9: .*is its server running/);
  });
});

describe('what a provider is sent', () => {
  it("holds the settings of the prompt with their types, those of the run, and the provider's headers", async () => {
    const source = prompt(
      'model: clever\nconfig: {temperature: 0.5, maxOutputTokens: 9, topK: 3, stopSequences: [END], logprobs: true, model: other}',
    );
    const { runStatus } = await run(source, [chatAnswer('Hi')], {
      runOptions: { topP: '0.25', reasoningEffort: 'low' },
    });
    expect(runStatus).toBe('succeeded');
    expect(provider.body()).toEqual({
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
    expect(provider.requests[0]?.headers).toMatchObject({
      'x-title': 'tests',
      authorization: `Bearer ${KEY}`,
    });
  });

  it("asks for JSON in the prompt's schema if the endpoint supports it", async () => {
    const head = 'output: {schema: {date: string, sum?: number}}';
    await run(prompt(`model: clever\n${head}`), [chatAnswer('{"date": "today"}')]);
    expect(provider.body()['response_format']).toMatchObject({
      type: 'json_schema',
      json_schema: { schema: { type: 'object', required: ['date'] } },
    });
    await run(prompt('model: clever\noutput: {format: json}'), [chatAnswer('{}')]);
    expect(provider.body()['response_format']).toEqual({ type: 'json_object' });
    await run(prompt(`model: plain\n${head}`), [chatAnswer('{"date": "today"}')]);
    expect(provider.body()).not.toHaveProperty('response_format');
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
    const format = provider.body()['response_format'] as { json_schema: { strict?: boolean } };
    expect(format.json_schema.strict).toBe(strict);
  });

  it('goes to the model that a foreign name stands for', async () => {
    const { outputs } = await run(prompt('model: googleai/gemini-2.5-pro'), [chatAnswer('Hi')]);
    expect(outputs).toEqual([{ type: 'text', data: 'Hi' }]);
    expect(provider.body()['model']).toBe('clever');
  });
});

describe('an answer that must be JSON', () => {
  const head = 'model: clever\noutput: {schema: {date: string, sum?: number}}';

  it('is taken out of its fence, and is the output of the run', async () => {
    const { runStatus, outputs } = await run(prompt(head), [chatAnswer('```json\n{"date": "today"}\n```')]);
    expect({ runStatus, outputs }).toEqual({
      runStatus: 'succeeded',
      outputs: [{ type: 'text', data: '{"date": "today"}' }],
    });
  });

  it('fails the run if it is not, with the text as it came and the place of the fault', async () => {
    const prose = await run(prompt(head), [chatAnswer('It was today.')]);
    expect(prose.runStatus).toBe('failed');
    expect(prose.outputs).toEqual([
      { type: 'text', data: 'It was today.' },
      { type: 'error', data: expect.stringContaining('not JSON') as string },
    ]);
    const wrong = await run(prompt(head), [chatAnswer('{"date": 5}')]);
    expect(wrong.outputs[1]?.data).toContain('"/date"');
  });
});

describe('text as it comes', () => {
  async function watched(
    source: string,
    answers: (ProviderAnswer | ProviderHandler)[],
  ): Promise<[TextPiece[], Run]> {
    const pieces: TextPiece[] = [];
    const stop = service.runsHere.onText(piece => pieces.push(piece));
    try {
      return [pieces, await run(source, answers, { key: `test-${Math.random()}` })];
    } finally {
      stop();
    }
  }

  it('is shown piece by piece, and is exactly the later output of the run', async () => {
    const events = [
      delta('Hel'),
      delta('lo \ud83d'),
      delta('\ude00', { finish_reason: 'stop' }),
      { choices: [], usage: { total_tokens: 7 } },
    ];
    const [pieces, { outputs, runStatus, tokens, runId }] = await watched(prompt('model: clever'), [
      streaming(events),
    ]);
    expect(pieces.map(({ text }) => text)).toEqual(['Hel', 'lo ', '😀']);
    expect(pieces.every(piece => piece.runId === runId && piece.idempotencyKey?.startsWith('test-'))).toBe(
      true,
    );
    expect({ runStatus, outputs, tokens }).toEqual({
      runStatus: 'succeeded',
      outputs: [{ type: 'text', data: 'Hello 😀' }],
      tokens: 7,
    });
    expect(await call('GET', `/runs/${runId}`)).toMatchObject({ outputs });
    expect(provider.body()).toMatchObject({ stream: true });
  });

  it.each(['cut', 'silent'] as const)('that is %s is a failed run with the text so far', async end => {
    const [pieces, { runStatus, outputs }] = await watched(prompt('model: clever'), [
      streaming([delta('Once'), delta(' upon')], end),
    ]);
    expect(pieces.map(({ text }) => text).join('')).toBe('Once upon');
    expect(runStatus).toBe('failed');
    expect(outputs).toEqual([
      { type: 'text', data: 'Once upon' },
      {
        type: 'error',
        data: 'corner ended its answer before it was complete; it may have been paid for: run it again',
      },
    ]);
  });

  it('that ends in an error is a failed run with the text so far', async () => {
    const [, { outputs }] = await watched(prompt('model: clever'), [
      streaming([delta('Once'), { error: { message: 'overloaded' } }]),
    ]);
    expect(outputs.map(({ data }) => data)).toEqual([
      'Once',
      'corner answered with an error: overloaded; it may have been paid for',
    ]);
  });

  it('is neither shown nor streamed if it is checked first', async () => {
    const [pieces] = await watched(prompt('model: clever\noutput: {format: json}'), [chatAnswer('{}')]);
    expect(pieces).toEqual([]);
    expect(provider.body()).not.toHaveProperty('stream');
  });

  it('is taken from servers that only stream, and whole from those that never do', async () => {
    const { outputs } = await clever(streaming([delta('Hi'), delta('!', { finish_reason: 'stop' })]));
    expect(outputs).toEqual([{ type: 'text', data: 'Hi!' }]);
    const unmarked: ProviderAnswer = {
      body: 'data: {"choices":[{"delta":{"content":"Hi"},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n',
    };
    expect((await clever(unmarked)).outputs).toEqual([{ type: 'text', data: 'Hi' }]);
    const [pieces] = await watched(prompt('model: clever'), [chatAnswer('Whole')]);
    expect(pieces.map(({ text }) => text)).toEqual(['Whole']);
  });
});

describe('pictures', () => {
  const picture = png(3, 3);
  const url = `data:image/png;base64,${picture.toString('base64')}`;

  it('in a chat answer are outputs as well', async () => {
    const answer = chatAnswer('Here', {
      message: { content: 'Here', images: [{ type: 'image_url', image_url: { url } }] },
    });
    const { runStatus, outputs } = await clever(answer);
    expect(runStatus).toBe('succeeded');
    expect(outputs.map(({ type }) => type)).toEqual(['text', 'image']);
    const parts = chatAnswer([{ type: 'image_url', image_url: { url } }]);
    expect((await clever(parts)).outputs.map(({ type }) => type)).toEqual(['image']);
  });

  it('larger than what is read are refused, whatever their URL', async () => {
    const chunk = Buffer.alloc(4 * 1024 * 1024);
    let sent = 0;
    const huge: ProviderHandler = response => {
      response.writeHead(200, { 'content-type': 'image/png' });
      const more = (): void => {
        sent += 1;
        if (sent < 400 && !response.destroyed) response.write(chunk, more);
      };
      more();
    };
    const answer = { body: { data: [{ url: `${provider.baseUrl}/huge.png` }] } };
    const { runStatus, outputs } = await run(prompt('model: painter'), [answer, huge]);
    expect(runStatus).toBe('failed');
    expect(outputs[0]?.data).toMatch(/larger than 20 MiB/);
    expect(sent).toBeLessThan(40);
  });

  it('more than a run may hold fail it before one is fetched, and its text stays', async () => {
    const images = Array.from({ length: 65 }, (_, at) => ({
      image_url: { url: `${provider.baseUrl}/${at}.png` },
    }));
    const { runStatus, outputs } = await clever(chatAnswer('Many', { message: { content: 'Many', images } }));
    expect({ runStatus, outputs }).toMatchObject({
      runStatus: 'failed',
      outputs: [
        { type: 'text', data: 'Many' },
        { type: 'error', data: expect.stringMatching(/65 pictures: a run holds at most 64/) as string },
      ],
    });
    expect(outputs[1]?.data).toContain('it may have been paid for');
    expect(provider.requests).toHaveLength(1);
  });

  it('of more bytes than a run may hold fail it, and no more are fetched', async () => {
    const large = Buffer.concat([picture, Buffer.alloc(20 * 1024 * 1024 - picture.length)]);
    const data = Array.from({ length: 20 }, (_, at) => ({ url: `${provider.baseUrl}/${at}.png` }));
    const served: ProviderHandler = response => void response.end(large);
    const { runStatus, outputs } = await run(prompt('model: painter'), [{ body: { data } }, served]);
    expect(runStatus).toBe('failed');
    expect(outputs).toMatchObject([{ type: 'error', data: expect.stringContaining('256 MiB') as string }]);
    expect(provider.requests).toHaveLength(1 + 13);
  });
});

it('a model without a description is taken for one of the endpoint of the environment, and a note names models discover', async () => {
  const ownDir = temporaryDataDir();
  const clock = new HandClock();
  const told: string[] = [];
  const own = await startEmbedded({
    dataDir: ownDir,
    clock,
    env: { OPENAI_BASE_URL: provider.baseUrl },
    onNotice: line => void told.push(line),
  });
  try {
    provider.reset(chatAnswer('Hi'));
    const file = path.join(ownDir, 'x.prompt');
    writeFileSync(file, prompt('model: llama3.2'));
    const ownStore = await openStore({ dataDir: ownDir, env: { OPENAI_BASE_URL: provider.baseUrl }, clock });
    const { promptVersionId } = await ownStore.ensureUnlistedVersion({ file });
    await ownStore.close();
    const answer = await own.request({
      method: 'POST',
      url: `${own.url}/runs`,
      headers: { authorization: `Bearer ${own.sessionKey}` },
      body: JSON.stringify({ promptVersionId, inputs: {} }),
    });
    expect(await textOf(answer.body)).toContain('"Hi"');
    expect(told).toEqual([expect.stringContaining('promptrun models discover') as string]);
  } finally {
    await own.close();
  }
});
