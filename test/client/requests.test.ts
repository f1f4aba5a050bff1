import { describe, expect, it } from 'vitest';
import { InvalidRequestError } from '../../src/client/errors.ts';
import { getRejection, KEY, startScript, type TestClient } from '../support/client.ts';
import { success } from '../support/scripted-service.ts';

describe('requests of the client', () => {
  const prompt = { promptVersionId: 'v', promptId: 'p' };

  it("go to the interface's paths, with the key and nothing unnecessary", async () => {
    const headers = {
      authorization: `Bearer ${KEY}`,
      'cli-agent': null,
      'content-type': null,
      'user-agent': 'promptrun',
    };

    const { client } = await startScript(
      {
        expect: { method: 'GET', path: '/prompts/p', query: { versionId: null }, headers },
        answer: success(prompt),
      },
      { expect: { path: '/prompts/p', query: { versionId: 'v' } }, answer: success(prompt) },
      {
        expect: { path: '/prompts/publish', query: { q: 'two words & more' } },
        answer: success({ rows: [] }),
      },
      { expect: { path: '/prompts/p/versions' }, answer: success({ versions: [] }) },
      { expect: { path: '/prompt-versions/v' }, answer: success(prompt) },
      { expect: { path: '/resources' }, answer: success({ hash: 'h', resources: { models: [] } }) },
      { expect: { path: '/me' }, answer: success({}) },
      { expect: { path: '/me/credits' }, answer: success({ credits: 5 }) },
    );

    await client.prompts.get('p');
    await client.prompts.get('p', { versionId: 'v' });
    await client.prompts.search('  two words & more ');
    await client.versions.list('p');
    await client.versions.get('v');
    await client.resources.get();
    await client.account.get();

    await expect(client.account.credits()).resolves.toEqual({ credits: 5 });
  });

  it('send a creation as JSON with its length', async () => {
    const body = { promptVersionId: 'v', inputs: { textInputs: { name: 'Zoë' } } };
    const headers = {
      'content-type': 'application/json',
      'content-length': String(Buffer.byteLength(JSON.stringify(body))),
    };
    const run = { runId: 'r1', runStatus: 'succeeded', outputs: [] };
    const { client } = await startScript({
      expect: { method: 'POST', path: '/runs', headers, body },
      answer: success(run),
    });
    expect(await client.runs.create(body)).toEqual(run);
  });

  it.each<[string, (client: TestClient) => Promise<unknown>]>([
    ['a search for nothing', client => client.prompts.search('')],
    ['a search for blanks', client => client.prompts.search('   ')],
    ['a search for more than 200 characters', client => client.prompts.search('x'.repeat(201))],
    ['a run without an id', client => client.runs.get('')],
    ['a run whose id leaves its path', client => client.runs.get('..')],
    ['a prompt without an id', client => client.prompts.get('')],
    ['a prompt whose id leaves its path', client => client.prompts.get('a/../b')],
    ['a path with ..', client => client.request('GET', '/runs/../me')],
    ['an invalid method', client => client.request('GE T', '/runs')],
  ])('are refused before anything is sent for %s', async (_, request) => {
    const { client, service } = await startScript();
    await getRejection(request(client), InvalidRequestError);
    expect(service.calls).toEqual([]);
  });
});
