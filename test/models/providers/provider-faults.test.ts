import { describe, expect, it } from 'vitest';
import { png } from '../../support/png.ts';
import {
  chatAnswer,
  type ProviderAnswer,
  type ProviderHandler,
} from '../../support/providers/fake-provider.ts';
import { KEY, prompt, useProvider } from './provider-of-tests.ts';

const { provider, run, runClever } = useProvider();

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
      chatAnswer('', {
        finish_reason: 'length',
        message: { content: '', reasoning_content: 'hm' },
      }),
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
  ])('is a failed run that says what to do: %s', async (_, answer, messages) => {
    const { runStatus, outputs } = await runClever(answer);
    expect(runStatus).toBe('failed');
    expect(outputs.map(({ type }) => type)).toEqual([
      ...messages.slice(1).map(() => 'text'),
      'error',
    ]);

    for (const [index, expected] of messages.entries()) {
      expect(outputs[index]?.data).toMatch(expected);
    }

    expect(provider().requests).toHaveLength(1);
  });

  it('fails the run if it breaks off, which may have been paid for', async () => {
    const { runStatus, outputs } = await runClever(response => {
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
    let sentCount = 0;
    const { outputs } = await runClever(response => {
      response.writeHead(200, { 'content-type': 'application/json' });
      const more = (fault?: Error | null): void => {
        if (fault) return;
        sentCount += 1;
        if (sentCount < 200 && !response.destroyed) response.write(chunk, more);
      };
      more();
    });

    expect(outputs[0]?.data).toMatch(/larger than 64 MiB/);
    expect(sentCount).toBeLessThan(40);
  });
});

describe("a provider's refusal", () => {
  it('of more than can be shown names the bound', async () => {
    const { outputs } = await runClever(response =>
      response.writeHead(400).end('a'.repeat(300 * 1024)),
    );
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
      {
        status: 422,
        body: { detail: [{ loc: ['body', 'top_k'], msg: 'extra fields not permitted' }] },
      },
      /answered 422 extra fields not permitted \(body\.top_k\)/,
    ],
    [
      'in a `detail`',
      { status: 400, body: { detail: 'no such model' } },
      /answered 400 no such model/,
    ],
    [
      'in a `message`',
      { status: 400, body: { object: 'error', message: 'context too long', code: 400 } },
      /answered 400 context too long/,
    ],
    [
      'in plain text',
      { status: 500, body: 'oh no' },
      /answered 500 oh no: the fault is on its side/,
    ],
    [
      'as a page',
      { status: 502, body: '<html><h1>Bad gateway</h1>' },
      /answered 502 with a web page/,
    ],
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
    const { runStatus, outputs } = await runClever(answer);
    expect(runStatus).toBe('failed');
    expect(outputs).toEqual([{ type: 'error', data: expect.stringMatching(message) as string }]);
    expect(JSON.stringify(outputs)).not.toContain(KEY);
    expect(provider().requests.filter(({ method }) => method === 'POST')).toHaveLength(1);
  });

  it('for being busy is asked again three times', async () => {
    const busy: ProviderAnswer = {
      status: 429,
      headers: { 'retry-after-ms': '1' },
      body: { error: { message: 'slow down' } },
    };
    expect(
      (await run(prompt('model: clever'), [busy, busy, busy, chatAnswer('At last')])).outputs,
    ).toEqual([{ type: 'text', data: 'At last' }]);

    const { runStatus } = await runClever(busy);
    expect(runStatus).toBe('failed');
    expect(provider().requests).toHaveLength(4);
  });

  it('of a parameter names no other models, though its words speak of the model', async () => {
    const message = "Unsupported parameter: 'logprobs' is not supported with this model.";
    const { outputs } = await runClever((response, { method }) => {
      const body =
        method === 'GET' ? { data: [{ id: 'tiny' }] } : { error: { message, param: 'logprobs' } };
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
    expect(outputs[0]?.data).toMatch(
      /^short answered 401 no answer: invalid key provided: "\*\*\*"/,
    );
  });

  it('of the connection names the address and what to check', async () => {
    const { outputs } = await run(prompt('model: closed'), []);
    expect(outputs[0]?.data).toMatch(
      /^closed can't be reached at 127\.0\.0\.1:9: .*is its server running/,
    );
  });
});

describe('pictures', () => {
  const picture = png(3, 3);
  const url = `data:image/png;base64,${picture.toString('base64')}`;

  it('in a chat answer are outputs as well', async () => {
    const answer = chatAnswer('Here', {
      message: { content: 'Here', images: [{ type: 'image_url', image_url: { url } }] },
    });
    const { runStatus, outputs } = await runClever(answer);

    expect(runStatus).toBe('succeeded');
    expect(outputs.map(({ type }) => type)).toEqual(['text', 'image']);

    const parts = chatAnswer([{ type: 'image_url', image_url: { url } }]);
    expect((await runClever(parts)).outputs.map(({ type }) => type)).toEqual(['image']);
  });

  it('larger than what is read are refused, whatever their URL', async () => {
    const chunk = Buffer.alloc(4 * 1024 * 1024);
    let sentCount = 0;
    const huge: ProviderHandler = response => {
      response.writeHead(200, { 'content-type': 'image/png' });
      const more = (): void => {
        sentCount += 1;
        if (sentCount < 400 && !response.destroyed) response.write(chunk, more);
      };
      more();
    };

    const answer = { body: { data: [{ url: `${provider().baseUrl}/huge.png` }] } };
    const { runStatus, outputs } = await run(prompt('model: painter'), [answer, huge]);

    expect(runStatus).toBe('failed');
    expect(outputs[0]?.data).toMatch(/larger than 20 MiB/);
    expect(sentCount).toBeLessThan(40);
  });

  it('more than a run may hold fail it before one is fetched, and its text stays', async () => {
    const images = Array.from({ length: 65 }, (_, index) => ({
      image_url: { url: `${provider().baseUrl}/${index}.png` },
    }));
    const { runStatus, outputs } = await runClever(
      chatAnswer('Many', { message: { content: 'Many', images } }),
    );

    expect({ runStatus, outputs }).toMatchObject({
      runStatus: 'failed',
      outputs: [
        { type: 'text', data: 'Many' },
        {
          type: 'error',
          data: expect.stringMatching(/65 pictures: a run holds at most 64/) as string,
        },
      ],
    });

    expect(outputs[1]?.data).toContain('it may have been paid for');
    expect(provider().requests).toHaveLength(1);
  });

  it('of more bytes than a run may hold fail it, and no more are fetched', async () => {
    const large = Buffer.concat([picture, Buffer.alloc(20 * 1024 * 1024 - picture.length)]);
    const data = Array.from({ length: 20 }, (_, index) => ({
      url: `${provider().baseUrl}/${index}.png`,
    }));
    const served: ProviderHandler = response => void response.end(large);
    const { runStatus, outputs } = await run(prompt('model: painter'), [
      { body: { data } },
      served,
    ]);

    expect(runStatus).toBe('failed');
    expect(outputs).toMatchObject([
      { type: 'error', data: expect.stringContaining('256 MiB') as string },
    ]);
    expect(provider().requests).toHaveLength(1 + 13);
  });
});
