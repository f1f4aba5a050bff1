import { describe, expect, it } from 'vitest';
import { InvalidRequestError, NotFoundError, ProtocolError } from '../../../src/client/errors.ts';
import type { RunRow } from '../../../src/wire/index.ts';
import {
  KEY,
  rejection,
  scriptedClient,
  type TestClient,
  testClient,
} from '../../support/client.ts';
import {
  type Exchange,
  failure,
  type ScriptedService,
  success,
} from '../../support/scripted-service.ts';

let service: ScriptedService;
let client: TestClient;

async function startScript(...script: readonly Exchange[]): Promise<void> {
  ({ service, client } = await scriptedClient(script));
}

function rows(first: number, count: number): Pick<RunRow, 'runId' | 'runStatus'>[] {
  return Array.from({ length: count }, (_, i) => ({
    runId: `r${first + i}`,
    runStatus: 'succeeded',
  }));
}

const page = (first: number, count: number, hasMore: boolean): ReturnType<typeof success> =>
  success({ rows: rows(first, count), hasMore });

async function ids(source: AsyncIterable<RunRow>): Promise<string[]> {
  const all: string[] = [];
  for await (const { runId } of source) all.push(runId);
  return all;
}

const named = (count: number): string[] => rows(1, count).map(({ runId }) => runId);

describe('the list of runs', () => {
  it('is asked as the query says, and nothing more', async () => {
    const query = { limit: 3, startingAfter: 'a', status: 'failed', since: 1, until: 2 } as const;
    await startScript(
      {
        expect: {
          path: '/runs',
          query: { limit: '3', startingAfter: 'a', status: 'failed', since: '1', until: '2' },
        },
        answer: page(1, 1, false),
      },
      { expect: { path: '/runs', query: { limit: null, status: null } }, answer: page(1, 1, true) },
    );

    await client.runs.list(query);
    await expect(client.runs.list()).resolves.toMatchObject({ hasMore: true });
  });

  it('continues page by page to its end', async () => {
    await startScript(
      {
        expect: { query: { limit: '50', startingAfter: null, status: 'failed' } },
        answer: page(1, 50, true),
      },
      {
        expect: { query: { limit: '50', startingAfter: 'r50', status: 'failed' } },
        answer: page(51, 50, true),
      },
      {
        expect: { query: { limit: '50', startingAfter: 'r100', status: 'failed' } },
        answer: page(101, 7, false),
      },
    );
    expect(await ids(client.runs.all({ status: 'failed' }))).toEqual(named(107));
  });

  it('asks for no more rows than are wanted', async () => {
    await startScript(
      { expect: { query: { limit: '50', startingAfter: 'x' } }, answer: page(1, 50, true) },
      { expect: { query: { limit: '10', startingAfter: 'r50' } }, answer: page(51, 10, true) },
    );
    expect(await ids(client.runs.all({ limit: 60, startingAfter: 'x' }))).toEqual(named(60));
  });

  it('yields no more rows than requested, whatever the service sends', async () => {
    await startScript({ answer: page(1, 50, true) });
    expect(await ids(client.runs.all({ limit: 2 }))).toEqual(named(2));
  });

  it('asks for a page only when it is wanted', async () => {
    await startScript({ answer: page(1, 50, true) });
    for await (const { runId } of client.runs.all()) if (runId === 'r50') break;
  });

  it('pages backwards, still newest first', async () => {
    await startScript(
      { expect: { query: { limit: '50', endingBefore: 'x' } }, answer: page(21, 50, true) },
      { expect: { query: { limit: '20', endingBefore: 'r21' } }, answer: page(1, 20, true) },
    );
    expect(await ids(client.runs.all({ limit: 70, endingBefore: 'x' }))).toEqual(named(70));
  });

  it('backwards, keeps the rows next to the cursor', async () => {
    await startScript({ answer: page(1, 5, true) });
    expect(await ids(client.runs.all({ limit: 2, endingBefore: 'x' }))).toEqual(['r4', 'r5']);
  });

  it('ends at an empty page, and at one that comes again', async () => {
    await startScript({ answer: page(1, 0, true) }, { answer: page(1, 2, true), times: 2 });
    expect(await ids(client.runs.all())).toEqual([]);
    const error = await rejection(ids(client.runs.all()), ProtocolError);
    expect(error.message).toContain('again');
  });

  it('ends if the pages repeat', async () => {
    const pages = [page(1, 2, true), page(3, 2, true), page(5, 2, true)];
    let asked = 0;
    await startScript({
      answer: () => pages[asked++ % pages.length] ?? page(1, 0, false),
      times: 4,
    });
    const error = await rejection(ids(client.runs.all()), ProtocolError);

    expect(error.message).toContain('again');
  });
});

describe('the list of prompts', () => {
  const prompt = (nth: number): object => ({
    promptId: `p${nth}`,
    promptVersionId: `v${nth}`,
    slug: `s${nth}`,
  });

  it('continues page by page, by the ids of prompts', async () => {
    await startScript(
      {
        expect: { path: '/prompts', query: { limit: '50', startingAfter: null } },
        answer: success({ rows: [prompt(1), prompt(2)], hasMore: true }),
      },
      {
        expect: { path: '/prompts', query: { startingAfter: 'p2' } },
        answer: success({ rows: [prompt(3)], hasMore: false }),
      },
    );

    const slugs: string[] = [];
    for await (const { slug } of client.prompts.all()) slugs.push(slug);
    expect(slugs).toEqual(['s1', 's2', 's3']);
  });

  it('is not found if the service is not the local one', async () => {
    await startScript({ answer: failure(404, 'NOT_FOUND_ERROR', 'no such route') });
    await rejection(client.prompts.list({ limit: 1 }), NotFoundError);
  });
});

describe('requests', () => {
  const prompt = { promptVersionId: 'v', promptId: 'p' };

  it("go to the interface's paths, with the key and nothing unnecessary", async () => {
    const headers = {
      authorization: `Bearer ${KEY}`,
      'cli-agent': null,
      'content-type': null,
      'user-agent': 'promptrun',
    };

    await startScript(
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

  it('of a creation send its JSON with its length', async () => {
    const body = { promptVersionId: 'v', inputs: { textInputs: { name: 'Zoë' } } };
    const headers = {
      'content-type': 'application/json',
      'content-length': String(JSON.stringify(body).length + 1),
    };
    await startScript({
      expect: { method: 'POST', path: '/runs', headers, body },
      answer: success({ ...rows(1, 1)[0], outputs: [] }),
    });
    await client.runs.create(body);
  });

  it.each(['', '   ', 'x'.repeat(201)])('for a search of %j are refused', async words => {
    await startScript();
    await rejection(client.prompts.search(words), InvalidRequestError);
  });

  it.each(['..', 'a/../b', ''])('for an id %j are refused', async id => {
    await startScript();
    await rejection(client.runs.get(id), InvalidRequestError);
    await rejection(client.prompts.get(id), InvalidRequestError);
    await rejection(client.request('GET', `/runs/../${id}`), InvalidRequestError);
  });

  it('with an invalid method are refused', async () => {
    await startScript();
    await rejection(client.request('GE T', '/runs'), InvalidRequestError);
  });
});

describe('the resources hash', () => {
  it('is sent once the caller has a valid one, and read again for each request', async () => {
    await startScript(
      { expect: { headers: { 'cli-agent': null } }, answer: success({}), times: 2 },
      { expect: { headers: { 'cli-agent': 'hash' } }, answer: success({}) },
    );
    let hash: string | undefined;
    client = testClient(service.baseUrl, { cliAgent: () => hash });
    await client.account.get();
    hash = 'broken\r\nhash';
    await client.account.get();
    hash = 'hash';
    await client.account.get();
  });

  it('is out of date when any answer says so, except that to the resources themselves', async () => {
    const stale = { 'action-require': '' };
    await startScript(
      { answer: success({}) },
      { answer: success({}, stale) },
      { answer: { status: 404, headers: stale, body: { status: 'NOT_FOUND_ERROR' } } },
      { answer: success({ hash: 'h', resources: { models: [] } }, stale) },
    );

    let asked = 0;
    client = testClient(service.baseUrl, { onActionRequire: () => asked++ });
    await client.account.get();

    expect(asked).toBe(0);

    await client.account.get();
    await client.raw('GET', '/x');

    expect(asked).toBe(2);

    await client.resources.get();
    expect(asked).toBe(2);
  });
});

describe('running a prompt', () => {
  const done = { runId: 'r', runStatus: 'succeeded', outputs: [], tokens: 1 };
  const version = '0b0c8f0e-4f0e-4c39-9b8e-7d0a2c7f1a55';

  const inputs = { textInputs: { name: 'Ada' } };
  const row = { promptId: 'p', promptVersionId: version, slug: 'hello' };

  it('creates it, waits for it and reports progress', async () => {
    await startScript(
      { expect: { path: '/prompts/publish' }, answer: success({ rows: [row] }) },
      {
        expect: { method: 'POST', path: '/runs', body: { promptVersionId: version, inputs } },
        answer: failure(504, 'GATEWAY_TIMEOUT_ERROR', 'still running', { runId: 'r' }),
      },
      { expect: { path: '/runs/r' }, answer: success({ ...done, runStatus: 'running' }) },
      { expect: { path: '/runs/r' }, answer: success(done) },
    );

    const seen: string[] = [];
    const onProgress = ({ runStatus }: { runStatus: string }): number => seen.push(runStatus);

    await expect(client.run('hello', { name: 'Ada' }, { onProgress })).resolves.toEqual(done);
    expect(seen).toEqual(['running', 'succeeded']);
  });

  it('takes an id for a version first, then for a prompt', async () => {
    const prompt = '3f0a9f0e-6d7b-4c55-9b51-0a1d6a2f7c11';
    await startScript(
      {
        expect: { method: 'POST', path: '/runs' },
        answer: failure(404, 'NOT_FOUND_ERROR', 'none'),
      },
      { expect: { path: `/prompts/${prompt}` }, answer: success(row) },
      {
        expect: { method: 'POST', path: '/runs', body: { promptVersionId: version, inputs } },
        answer: success(done),
      },
    );
    await expect(client.run(prompt, inputs)).resolves.toEqual(done);
  });

  it('ends with its signal', async () => {
    await startScript();
    const signal = AbortSignal.abort(new Error('enough'));
    await expect(client.run(version, inputs, { signal })).rejects.toThrow('enough');
  });
});
