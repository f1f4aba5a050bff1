import { describe, expect, it } from 'vitest';
import { NetworkError, ServiceError } from '../../src/client/errors.ts';
import { getRejection, startScript } from '../support/client.ts';
import { failure, html, type ScriptedAnswer, success } from '../support/scripted-service.ts';

const run = { runId: 'r', runStatus: 'succeeded', outputs: [], tokens: 1 };
const request = { promptVersionId: 'v', inputs: {} };
const supported = { idempotency: 'supported' };
const me = { username: null, displayName: null, userFlags: 0 };

describe('the key of a creation', () => {
  it('is sent with it, the same at every try', async () => {
    const headers = { 'idempotency-key': 'journal-1' };
    const { client } = await startScript(
      { expect: { headers }, answer: failure(429, 'TOO_MANY_REQUESTS_ERROR', 'slow down') },
      { expect: { headers }, answer: success(run) },
    );
    await expect(client.runs.create(request, { idempotencyKey: 'journal-1' })).resolves.toEqual(
      run,
    );
  });

  it('is sent only if the caller has one', async () => {
    const { client } = await startScript({
      expect: { headers: { 'idempotency-key': null } },
      answer: success(run),
    });
    await client.runs.create(request);
  });

  it.each<ScriptedAnswer>([
    'reset-after-body',
    { ...failure(500, 'SERVER_ERROR', 'x'), headers: supported },
    { ...html(502), headers: supported },
  ])('never makes the client send a creation again by itself', async answer => {
    const { client } = await startScript({ answer });
    await expect(client.runs.create(request, { idempotencyKey: 'journal-1' })).rejects.toThrow();
  });
});

describe("what a client knows about a service's keys", () => {
  it('is nothing before an answer', async () => {
    const { client } = await startScript({ answer: 'reset-after-body' });
    expect(client.keepsIdempotencyKeys).toBeUndefined();
    await getRejection(client.runs.create(request), NetworkError);
    expect(client.keepsIdempotencyKeys).toBeUndefined();
  });

  it.each([
    ['supported', true],
    ['Supported ', true],
    ['none', false],
    [undefined, false],
  ])('is what any answer says: %s', async (idempotency, isSupported) => {
    const { client } = await startScript({
      answer: success(me, idempotency === undefined ? {} : { idempotency }),
    });
    await client.account.get();
    expect(client.keepsIdempotencyKeys).toBe(isSupported);
  });

  it('follows from the headers of an answer that breaks off', async () => {
    const { client } = await startScript({ answer: { ...success(run, supported), cutAfter: 4 } });
    await getRejection(client.runs.create(request), NetworkError);
    expect(client.keepsIdempotencyKeys).toBe(true);
  });

  it('is not changed by an intermediary, nor by an answer to an unknown caller', async () => {
    const options = { retries: 0 };
    const { client } = await startScript(
      { answer: success(me, supported) },
      { answer: html(502) },
      { answer: failure(503, 'UNAVAILABLE', 'x') },
      { answer: failure(401, 'UNAUTHORIZED_ERROR', 'x') },
    );

    await client.account.get();
    await expect(client.account.get(options)).rejects.toThrow('502');

    await getRejection(client.account.get(options), ServiceError);
    await getRejection(client.account.get(options), ServiceError);

    expect(client.keepsIdempotencyKeys).toBe(true);
  });

  it('changes with an answer of a service that no longer keeps keys', async () => {
    const { client } = await startScript(
      { answer: success(me, supported) },
      { answer: success(me) },
    );
    await client.account.get();
    await client.account.get();
    expect(client.keepsIdempotencyKeys).toBe(false);
  });
});
