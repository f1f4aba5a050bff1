import { describe, expect, it } from 'vitest';
import { normalizeBaseUrl, staysBelowBase } from '../../src/client/http/base-url.ts';
import { parseEnvelope, parseResponse } from '../../src/client/http/parse-response.ts';
import { Redaction } from '../../src/client/http/redaction.ts';
import { fillsSegment } from '../../src/client/url-path.ts';
import { parseRetryAfter } from '../../src/net/retry-policy.ts';

const CHARACTER_COUNT = 300_000;

/** CPU time that quadratic work on so many characters exceeds by minutes. */
const MAX_CPU_MS = 3000;

const PIECES = [
  ' ',
  '\t\n',
  '/',
  '\\',
  '%25',
  '%2',
  '.',
  '0',
  '9.',
  '"',
  '\\"',
  '[',
  '{"a":',
  ',',
  'a',
  'key-',
  '\u{1f600}',
];

const redaction = new Redaction('key-key-key-key-0');

/** The functions that read text which a server or a file may have chosen. */
const READERS: Readonly<Record<string, (text: string) => unknown>> = {
  'an answer': text =>
    parseResponse(
      {
        method: 'GET',
        url: 'https://x.example/v1/a',
        httpStatus: 200,
        headers: { 'content-type': text },
        text,
        receivedAt: 0,
      },
      redaction,
    ),
  'an error': text =>
    parseResponse(
      {
        method: 'POST',
        url: 'https://x.example/v1/a',
        httpStatus: 504,
        headers: { 'retry-after': text, date: text },
        text: JSON.stringify({ status: text, message: text, data: { runId: text } }),
        receivedAt: 0,
      },
      redaction,
    ),
  'an identifier': fillsSegment,
  'a path': text => staysBelowBase(`/${text}`),
  'a base URL': text => catchError(() => normalizeBaseUrl(`https://x.example/${text}`)),
  'Retry-After': text => parseRetryAfter(text, 0),
  'what may hold the key': text => redaction.redactValue({ [text]: [text] }),
};

function catchError(work: () => unknown): unknown {
  try {
    return work();
  } catch (error) {
    return error;
  }
}

describe.each(Object.entries(READERS))('%s of many characters', (_, read) => {
  it.each(PIECES)('all of them %j, is read soon', piece => {
    const text = piece.repeat(CHARACTER_COUNT / piece.length);
    const usageBefore = process.cpuUsage();
    read(text);
    read(`${text}x`);
    const { user, system } = process.cpuUsage(usageBefore);
    expect((user + system) / 1000).toBeLessThan(MAX_CPU_MS);
  });
});

it('an answer without an envelope, however long, is described in a line that fits on a screen', () => {
  const received = { method: 'GET', url: 'x', httpStatus: 200, headers: {}, receivedAt: 0 };
  expect(() =>
    parseEnvelope({ ...received, text: 'a'.repeat(CHARACTER_COUNT) }, redaction),
  ).toThrow(/^.{60,200}$/);
});
