import { describe, expect, it } from 'vitest';
import { NetworkError, PromptServiceError } from '../../src/client/errors.ts';
import { getRejection, startScript } from '../support/client.ts';
import { failure, html, type ScriptedAnswer, success } from '../support/scripted-service.ts';

const run = { runId: 'r', runStatus: 'succeeded', outputs: [], tokens: 1 };
const request = { promptVersionId: 'v', inputs: {} };
const supported = { idempotency: 'supported' };
const me = { username: null, displayName: null, userFlags: 0 };

describe('the key of a creation', () => {
  it('is sent with it, the same with every retry', async () => {
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

  it.each<{ name: string; answer: ScriptedAnswer }>([
    { name: 'a lost connection', answer: 'reset-after-body' },
    {
      name: 'an error of the service',
      answer: { ...failure(500, 'SERVER_ERROR', 'x'), headers: supported },
    },
    { name: 'an error of an intermediary', answer: { ...html(502), headers: supported } },
  ])('does not make the client send a creation again after $name', async ({ answer }) => {
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

  it.each<{ name: string; headers: Record<string, string>; keepsKeys: boolean }>([
    { name: 'supported', headers: { idempotency: 'supported' }, keepsKeys: true },
    { name: 'Supported, with a space,', headers: { idempotency: 'Supported ' }, keepsKeys: true },
    { name: 'none', headers: { idempotency: 'none' }, keepsKeys: false },
    { name: 'nothing', headers: {}, keepsKeys: false },
  ])('is $keepsKeys after an answer whose header says $name', async ({ headers, keepsKeys }) => {
    const { client } = await startScript({ answer: success(me, headers) });
    await client.account.get();
    expect(client.keepsIdempotencyKeys).toBe(keepsKeys);
  });

  it('follows from the headers of an answer that breaks off', async () => {
    const { client } = await startScript({ answer: { ...success(run, supported), cutAfter: 4 } });
    await getRejection(client.runs.create(request), NetworkError);
    expect(client.keepsIdempotencyKeys).toBe(true);
  });

  it.each<{ name: string; answer: ScriptedAnswer }>([
    { name: 'a page of an intermediary', answer: html(502) },
    { name: 'an unavailable service', answer: failure(503, 'UNAVAILABLE', 'x') },
    {
      name: 'the refusal of an unknown caller',
      answer: failure(401, 'UNAUTHORIZED_ERROR', 'x'),
    },
  ])('is not changed by $name', async ({ answer }) => {
    const { client } = await startScript({ answer: success(me, supported) }, { answer });
    await client.account.get();
    await getRejection(client.account.get({ retries: 0 }), PromptServiceError);
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
