import { brotliCompressSync, constants, deflateRawSync, deflateSync, gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { NetworkError, ProtocolError } from '../../../src/client/errors.ts';
import { getRejection, startScriptedClient } from '../../support/client.ts';
import type { PlainAnswer } from '../../support/scripted-service.ts';

const MIB = 1024 * 1024;
const QUICK = { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } };
const data = { text: 'so — '.repeat(20_000) };
const json = JSON.stringify({ status: 'SUCCESS', data });

async function requestEncoded(
  encoding: string,
  body: Uint8Array | string,
  more: PlainAnswer = {},
): Promise<unknown> {
  const headers = { 'content-encoding': encoding };
  const { client } = await startScriptedClient([{ answer: { headers, body, ...more } }]);
  return (await client.request('GET', '/me', { retries: 0 })).data;
}

describe('an answer', () => {
  it.each<[string, Uint8Array | string]>([
    ['gzip', gzipSync(json)],
    ['x-gzip', gzipSync(json)],
    ['deflate', deflateSync(json)],
    ['deflate', deflateRawSync(json)],
    ['br', brotliCompressSync(json)],
    ['GZIP', gzipSync(json)],
    ['identity', json],
    ['gzip, br', brotliCompressSync(gzipSync(json))],
  ])('encoded as %s is read', async (encoding, body) => {
    expect(await requestEncoded(encoding, body)).toEqual(data);
  });

  it('that comes in small pieces is read, too', async () => {
    expect(await requestEncoded('gzip', gzipSync(json), { dripBytes: 7 })).toEqual(data);
  });

  it('of 20 MiB is read', async () => {
    const text = 'x'.repeat(20 * MIB);
    expect(
      await requestEncoded(
        'gzip',
        gzipSync(JSON.stringify({ status: 'SUCCESS', data: text }), { level: 1 }),
      ),
    ).toBe(text);
  });

  it.each<[string, Uint8Array | string, RegExp]>([
    ['gzip', 'no gzip at all', /not encoded as its headers say/],
    ['gzip', gzipSync(json).subarray(0, 100), /not encoded as its headers say/],
    ['zstd', 'x', /encoded as zstd, which was not requested/],
    ['gzip, gzip, gzip', 'x', /too many times/],
    ['gzip', '', /an empty answer/],
  ])('in broken %s is refused', async (encoding, body, message) => {
    const error = await getRejection(requestEncoded(encoding, body), ProtocolError);
    expect(error.message).toMatch(message);
    expect(error.httpStatus).toBe(200);
  });

  it.each<[string, Uint8Array]>([
    ['gzip', gzipSync(Buffer.alloc(65 * MIB, 32), { level: 1 })],
    ['br', brotliCompressSync(Buffer.alloc(65 * MIB, 32), QUICK)],
    ['identity', Buffer.alloc(65 * MIB, 32)],
  ])('that grows beyond 64 MiB out of %s is dropped', async (encoding, body) => {
    const error = await getRejection(requestEncoded(encoding, body), ProtocolError);
    expect(error.message).toMatch(/larger than 67108864 bytes/);
  });

  it('cut short within its encoding is a fault of the network', async () => {
    await getRejection(requestEncoded('gzip', gzipSync(json), { cutAfter: 40 }), NetworkError);
  });
});
