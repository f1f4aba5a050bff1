import { describe, expect, it } from 'vitest';
import { ProtocolError } from '../../../src/client/errors.ts';
import { Redaction } from '../../../src/client/http/redaction.ts';
import {
  getRejection,
  KEY,
  startScript,
  type TestClient,
  testClient,
} from '../../support/client.ts';
import {
  failure,
  html,
  type PlainAnswer,
  startScriptedServiceForTest,
  success,
} from '../../support/scripted-service.ts';

const once = { retries: 0 };

/** Returns everything that an error and the events of its request could show. */
function joinTexts(error: Error, client: TestClient): string {
  return JSON.stringify([
    error.message,
    error.stack,
    String(error.cause),
    Object.entries(error),
    client.events,
  ]);
}

describe('the key that a server repeats', () => {
  it.each<[string, PlainAnswer]>([
    ['a text', { status: 500, headers: { 'content-type': 'text/plain' }, body: `Bearer ${KEY}` }],
    ['an error', failure(400, 'BAD_REQUEST_ERROR', `bad header Bearer ${KEY}`, { headers: [KEY] })],
    ['an error with 200', failure(200, 'ODD', KEY, { [KEY]: KEY })],
    ['a status', failure(400, KEY, 'x')],
    ['a content type', { status: 200, headers: { 'content-type': `text/${KEY}` }, body: 'x' }],
    ['an encoding', { status: 200, headers: { 'content-encoding': KEY }, body: 'x' }],
    [
      'the target of a redirect',
      { status: 302, headers: { location: `https://evil.example/?k=${KEY}` } },
    ],
    ['broken JSON', { status: 200, body: `{"key": "${KEY}"` }],
    ['JSON without an envelope', { status: 200, body: [KEY] }],
  ])('is masked in an error for %s', async (_, answer) => {
    const { client } = await startScript({ answer });
    const error = await getRejection(client.request('GET', '/me', once), Error);
    expect(joinTexts(error, client)).not.toContain(KEY);
    expect(joinTexts(error, client)).toContain('[key]');
  });

  it('is masked in the error and the events of a request whose path and query hold it', async () => {
    const { client } = await startScript({ answer: html(404) });
    const error = await getRejection(
      client.request('GET', `/x/${KEY}`, { ...once, query: { key: KEY } }),
      ProtocolError,
    );
    expect(joinTexts(error, client)).not.toContain(KEY);
    expect(client.events.map(({ url }) => new URL(url).pathname)).toEqual([
      '/v1/x/[key]',
      '/v1/x/[key]',
    ]);
  });

  it('is masked in the text, the headers and the envelope of an error that is passed on as it came', async () => {
    const answer = failure(400, 'BAD_REQUEST_ERROR', `Bearer ${KEY}`, null, { 'x-echo': KEY });
    const { client } = await startScript({ answer });
    const raw = await client.raw('GET', '/me', once);

    expect(JSON.stringify(raw)).not.toContain(KEY);
    expect(JSON.parse(raw.text)).toEqual({
      status: 'BAD_REQUEST_ERROR',
      message: 'Bearer [key]',
      data: null,
    });
  });

  it('is masked in a success, but not in the outputs of a run', async () => {
    const outputs = [{ type: 'text', data: `my key is ${KEY}` }];
    const row = { runId: 'r', runStatus: 'succeeded', outputs, runName: KEY };
    const { client } = await startScript({ answer: success({ rows: [row], hasMore: false }) });
    const { rows } = await client.runs.list();
    expect(rows).toEqual([{ ...row, runName: '[key]' }]);
  });

  it('is masked in the bodies of events, also where a body is cut', async () => {
    const body = 'x'.repeat(4090) + KEY;
    const service = await startScriptedServiceForTest({ answer: { status: 200, body } });
    const client = testClient(service.baseUrl, { eventBodies: true });
    const streamed = {
      length: body.length,
      async *chunks() {
        yield Buffer.from(body);
      },
    };
    await getRejection(client.request('POST', '/x', { ...once, body: streamed }), ProtocolError);

    const bodies = client.events.map(event => event.body).filter(text => text !== undefined);
    expect(bodies).toEqual(Array(2).fill(`${'x'.repeat(4090)}[key]`));
  });

  it('leaves the text of an answer that does not hold it as it came', async () => {
    const text = '{ "status":"SUCCESS",  "data": {"a":1.0} }';
    const { client } = await startScript({ answer: { body: text } });
    await expect(client.raw('GET', '/me')).resolves.toMatchObject({ text });
  });

  it('is masked in the name of a picture that cannot be fetched, and in its content type', async () => {
    const { client, service } = await startScript(
      { answer: { status: 404 } },
      { answer: { status: 200, headers: { 'content-type': `image/${KEY}` }, body: 'x' } },
    );
    const error = await getRejection(client.download(`${service.origin}/${KEY}.png`), Error);
    const refused = await getRejection(client.download(`http://evil.example/${KEY}.png`), Error);

    expect(joinTexts(error, client) + joinTexts(refused, client)).not.toContain(KEY);

    const { contentType, body } = await client.download(`${service.origin}/a.png`);
    expect(contentType).toBe('image/[key]');

    await body[Symbol.asyncIterator]().return?.();
  });
});

describe('a key', () => {
  it.each([
    ['k', 'a key is a key'],
    ['key', 'a key is a key'],
    ['data', 'database and data-source and metadata'],
  ])('of few letters (%s) does not garble the text', (key, text) => {
    expect(new Redaction(key).redactText(text)).toBe(text);
  });

  it('of few letters is masked if it stands alone', () => {
    expect(new Redaction('hunter').redactText('Bearer hunter, hunters, "hunter"')).toBe(
      'Bearer [key], hunters, "[key]"',
    );
  });

  it('may hold signs that mean something in a pattern, and is masked in a URL as well', () => {
    const redaction = new Redaction('a+b/c$(d)[e]=.*');
    expect(redaction.redactText('x a+b/c$(d)[e]=.* y')).toBe('x [key] y');
    expect(redaction.redactText(`?k=${encodeURIComponent('a+b/c$(d)[e]=.*')}&l`)).toBe(
      '?k=[key]&l',
    );
    expect(redaction.redactText('aab/c$(d)[e]=xx')).toBe('aab/c$(d)[e]=xx');
  });

  it('is found however JSON escapes it', () => {
    expect(
      new Redaction('pass"word\\1').redactValue(JSON.parse('{"a":["pass\\"word\\\\1"]}')),
    ).toEqual({
      a: ['[key]'],
    });
  });
});
