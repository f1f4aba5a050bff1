import { describe, expect, it } from 'vitest';
import { png } from '../../support/png.ts';
import {
  chatAnswer,
  type ProviderAnswer,
  type ProviderHandler,
} from '../../support/providers/fake-provider.ts';
import { EndlessAnswer } from './endless-answer.ts';
import { KEY, prompt, SHORT_KEY, useProvider } from './provider-of-tests.ts';

const KIB = 1024;
const MIB = 1024 * KIB;

/**
 * More than the buffers of the system hold of what a reader no longer reads, and far less than an
 * endless answer sends if nobody hangs up.
 */
const MAX_UNREAD_BYTES = 96 * MIB;

const { provider, run, runChatModel } = useProvider();

describe("a provider's answer that is not whole", () => {
  it.each<{
    what: string;
    answer: ProviderAnswer;
    texts?: readonly string[];
    message: RegExp;
  }>([
    {
      what: 'cut off at its limit',
      answer: chatAnswer('Once upon', { finish_reason: 'length' }),
      texts: ['Once upon'],
      message: /token limit.*raise maxOutputTokens/,
    },
    {
      what: 'filtered',
      answer: chatAnswer('Well,', { finish_reason: 'content_filter' }),
      texts: ['Well,'],
      message: /content filter.*change the prompt/,
    },
    {
      what: 'cut off while the model still thought',
      answer: chatAnswer('', {
        finish_reason: 'length',
        message: { content: '', reasoning_content: 'hm' },
      }),
      message: /used its whole token limit for thinking.*raise maxOutputTokens/,
    },
    {
      what: 'a call of a tool',
      answer: chatAnswer(null, {
        finish_reason: 'tool_calls',
        message: { content: null, tool_calls: [{ function: { name: 'look_up' } }] },
      }),
      message: /asked for the tool look_up.*call no tools/,
    },
    {
      what: 'refused by the model',
      answer: chatAnswer(null, { message: { content: null, refusal: "I'd rather not" } }),
      message:
        /^fake-provider's model refused: I'd rather not; it may have been paid for: change the prompt/,
    },
    {
      what: 'an empty text',
      answer: chatAnswer(''),
      message: /answered without text; it may have been paid for: run it again/,
    },
    {
      what: 'an error with the status 200',
      answer: { body: { error: { message: 'upstream is down', code: 502 } } },
      message: /answered with an error: upstream is down/,
    },
    {
      what: 'a text that ends in an error',
      answer: chatAnswer('Once', { finish_reason: 'error', error: { message: 'overloaded' } }),
      texts: ['Once'],
      message: /ended its answer with an error: overloaded/,
    },
    {
      what: 'a web page',
      answer: { headers: { 'content-type': 'text/html' }, body: '<!doctype html><p>Welcome' },
      message: /web page.*check its baseUrl/,
    },
    { what: 'an empty body', answer: { body: '' }, message: /sent an empty answer/ },
    {
      what: 'a body that is not JSON',
      answer: { body: 'hello' },
      message: /not a JSON object: hello/,
    },
    { what: 'a JSON array', answer: { body: [] }, message: /not a JSON object/ },
    {
      what: 'an object without choices',
      answer: { body: { id: 'x' } },
      message: /answered without text/,
    },
  ])(
    'fails the run, which keeps its text, says why and asks once: $what',
    async ({ answer, texts = [], message }) => {
      const { runStatus, outputs } = await runChatModel(answer);
      expect(runStatus).toBe('failed');
      expect(outputs).toEqual([
        ...texts.map(data => ({ type: 'text', data })),
        { type: 'error', data: expect.stringMatching(message) as string },
      ]);
      expect(provider().requests).toHaveLength(1);
    },
  );

  it('fails the run if it breaks off, which may have been paid for', async () => {
    const { runStatus, outputs } = await runChatModel(response => {
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': '500' });
      response.write('{"choices": [', () => response.destroy());
    });
    expect(runStatus).toBe('failed');
    expect(outputs).toEqual([
      {
        type: 'error',
        data: 'fake-provider ended its answer before it was complete; it may have been paid for: run it again',
      },
    ]);
  });

  it('is not read to the end if it never ends', async () => {
    const answer = new EndlessAnswer('application/json', Buffer.alloc(4 * MIB, 'a'), 800 * MIB);
    const { outputs } = await runChatModel(answer.handler);

    expect(outputs[0]?.data).toContain('larger than 64 MiB');
    expect(answer.sentBytes).toBeLessThan(64 * MIB + MAX_UNREAD_BYTES);
  });
});

describe("a provider's refusal", () => {
  it('that is longer than what is read of one names the limit', async () => {
    const { outputs } = await runChatModel(response =>
      response.writeHead(400).end('a'.repeat(300 * KIB)),
    );
    expect(outputs[0]?.data).toContain('it is larger than 256 KiB');
  });

  it.each<{ what: string; answer: ProviderAnswer; message: RegExp }>([
    {
      what: 'of the key',
      answer: { status: 401, body: { error: { message: `Incorrect API key provided: ${KEY}` } } },
      message: /answered 401 Incorrect API key provided: \*\*\*: it refuses the key/,
    },
    {
      what: 'without `error`',
      answer: {
        status: 422,
        body: { detail: [{ loc: ['body', 'top_k'], msg: 'extra fields not permitted' }] },
      },
      message: /answered 422 extra fields not permitted \(body\.top_k\)/,
    },
    {
      what: 'in a `detail`',
      answer: { status: 400, body: { detail: 'no such model' } },
      message: /answered 400 no such model/,
    },
    {
      what: 'in a `message`',
      answer: { status: 400, body: { object: 'error', message: 'context too long', code: 400 } },
      message: /answered 400 context too long/,
    },
    {
      what: 'in plain text',
      answer: { status: 500, body: 'oh no' },
      message: /answered 500 oh no: the fault is on its side/,
    },
    {
      what: 'as a page',
      answer: { status: 502, body: '<html><h1>Bad gateway</h1>' },
      message: /answered 502 with a web page/,
    },
    {
      what: 'that names a tag',
      answer: { status: 400, body: { error: { message: '<body> of the request is missing' } } },
      message: /answered 400 <body> of the request is missing/,
    },
    {
      what: 'without a word',
      answer: { status: 503, body: '' },
      message: /answered 503 \(no reason given\)/,
    },
    {
      what: 'of the path',
      answer: { status: 404, body: { error: 'page not found' } },
      message: /answered 404 page not found: check its baseUrl/,
    },
    {
      what: 'of the quota',
      answer: {
        status: 429,
        body: { error: { code: 'insufficient_quota', message: 'You exceeded your current quota' } },
      },
      message: /quota of the account is used up/,
    },
    {
      what: 'for longer than a minute',
      answer: { status: 429, headers: { 'retry-after': '61' }, body: {} },
      message: /busy: try again later/,
    },
    {
      what: 'by a redirect',
      answer: { status: 307, headers: { location: 'http://127.0.0.1:1/v1' } },
      message: /redirects to http:\/\/127\.0\.0\.1:1 .*redirects are not followed/,
    },
    {
      what: 'of `response_format`',
      answer: { status: 400, body: { error: { message: 'response_format is not supported' } } },
      message: /responseFormat: none/,
    },
  ])('$what is a failed run that says what to do, asked once', async ({ answer, message }) => {
    const { runStatus, outputs } = await runChatModel(answer);
    expect(runStatus).toBe('failed');
    expect(outputs).toEqual([{ type: 'error', data: expect.stringMatching(message) as string }]);
    expect(JSON.stringify(outputs)).not.toContain(KEY);
    expect(provider().requests.filter(({ method }) => method === 'POST')).toHaveLength(1);
  });

  describe('for being busy', () => {
    const busy: ProviderAnswer = {
      status: 429,
      headers: { 'retry-after-ms': '1' },
      body: { error: { message: 'slow down' } },
    };

    it('is asked again up to three times', async () => {
      const { outputs } = await run(prompt('model: chat-model'), [
        busy,
        busy,
        busy,
        chatAnswer('At last'),
      ]);
      expect(outputs).toEqual([{ type: 'text', data: 'At last' }]);
    });

    it('fails the run after the fourth', async () => {
      const { runStatus } = await runChatModel(busy);
      expect(runStatus).toBe('failed');
      expect(provider().requests).toHaveLength(4);
    });
  });

  it('of a parameter names no other models, though its words speak of the model', async () => {
    const message = "Unsupported parameter: 'logprobs' is not supported with this model.";
    const answerByMethod: ProviderHandler = (response, { method }) => {
      const isListOfModels = method === 'GET';
      const body = isListOfModels
        ? { data: [{ id: 'tiny' }] }
        : { error: { message, param: 'logprobs' } };
      response
        .writeHead(isListOfModels ? 200 : 400, { 'content-type': 'application/json' })
        .end(JSON.stringify(body));
    };

    const { outputs } = await runChatModel(answerByMethod);
    expect(outputs[0]?.data).toContain(message);
    expect(outputs[0]?.data).not.toContain('it has tiny');
  });

  it('is not garbled by a key that is a short word', async () => {
    const { outputs } = await run(prompt('model: model-with-short-key'), [
      {
        status: 401,
        body: { error: { message: `no answer: invalid key provided: "${SHORT_KEY}"` } },
      },
    ]);
    expect(outputs[0]?.data).toContain(
      'provider-with-short-key answered 401 no answer: invalid key provided: "***"',
    );
  });
});

it('a provider that cannot be reached is named with its address and what to check', async () => {
  const { outputs } = await run(prompt('model: unreachable-model'), []);
  expect(outputs[0]?.data).toMatch(
    /^unreachable-provider can't be reached at 127\.0\.0\.1:9: .*is its server running/,
  );
});

describe('the images of an answer', () => {
  const smallImage = png(3, 3);
  const imagePart = {
    type: 'image_url',
    image_url: { url: `data:image/png;base64,${smallImage.toString('base64')}` },
  };

  const listImageUrls = (count: number): string[] =>
    Array.from({ length: count }, (_, index) => `${provider().baseUrl}/${index}.png`);

  it('are outputs after its text', async () => {
    const { runStatus, outputs } = await runChatModel(
      chatAnswer('Here', { message: { content: 'Here', images: [imagePart] } }),
    );
    expect(runStatus).toBe('succeeded');
    expect(outputs.map(({ type }) => type)).toEqual(['text', 'image']);
  });

  it('are outputs if they are parts of its content', async () => {
    const { outputs } = await runChatModel(chatAnswer([imagePart]));
    expect(outputs.map(({ type }) => type)).toEqual(['image']);
  });

  it('are not read to the end if they are too large', async () => {
    const image = new EndlessAnswer('image/png', Buffer.alloc(4 * MIB), 1600 * MIB);
    const answer = { body: { data: [{ url: `${provider().baseUrl}/huge.png` }] } };
    const { runStatus, outputs } = await run(prompt('model: image-model'), [answer, image.handler]);

    expect(runStatus).toBe('failed');
    expect(outputs[0]?.data).toContain('larger than 20 MiB');
    expect(image.sentBytes).toBeLessThan(20 * MIB + MAX_UNREAD_BYTES);
  });

  it('fail the run if they are too many, which keeps its text and fetches none', async () => {
    const images = listImageUrls(65).map(url => ({ image_url: { url } }));
    const { runStatus, outputs } = await runChatModel(
      chatAnswer('Many', { message: { content: 'Many', images } }),
    );

    expect(runStatus).toBe('failed');
    expect(outputs).toMatchObject([
      { type: 'text', data: 'Many' },
      {
        type: 'error',
        data: expect.stringContaining('65 pictures: a run holds at most 64') as string,
      },
    ]);
    expect(outputs[1]?.data).toContain('it may have been paid for');
    expect(provider().requests).toHaveLength(1);
  });

  it('fail the run if they are too large together, which fetches no more of them', async () => {
    const largeImage = Buffer.alloc(20 * MIB);
    smallImage.copy(largeImage);
    const sendLargeImage: ProviderHandler = response => void response.end(largeImage);
    const data = listImageUrls(20).map(url => ({ url }));

    const { runStatus, outputs } = await run(prompt('model: image-model'), [
      { body: { data } },
      sendLargeImage,
    ]);

    expect(runStatus).toBe('failed');
    expect(outputs).toMatchObject([
      { type: 'error', data: expect.stringContaining('256 MiB') as string },
    ]);

    // 12 images of 20 MiB are within 256 MiB, and the 13th is not.
    const [, ...imageRequests] = provider().requests;
    expect(imageRequests).toHaveLength(13);
  });
});
