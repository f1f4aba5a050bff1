import { describe, expect, it } from 'vitest';
import { ProtocolError } from '../../../src/client/errors.ts';
import type { RunRow } from '../../../src/wire/index.ts';
import { getRejection, startScript } from '../../support/client.ts';
import { type PlainAnswer, success } from '../../support/scripted-service.ts';

const EMPTY_PAGE = success({ rows: [], hasMore: true });

/** Returns a page with the runs r<first> to r<last>, after which more follow. */
function page(first: number, last: number): PlainAnswer {
  return success({ rows: rows(first, last), hasMore: true });
}

function lastPage(first: number, last: number): PlainAnswer {
  return success({ rows: rows(first, last), hasMore: false });
}

function rows(first: number, last: number): Pick<RunRow, 'runId' | 'runStatus'>[] {
  return Array.from({ length: last - first + 1 }, (_, index) => ({
    runId: `r${first + index}`,
    runStatus: 'succeeded',
  }));
}

/** Returns the ids r1 to r<last>. */
function idsUpTo(last: number): string[] {
  return rows(1, last).map(({ runId }) => runId);
}

async function readIds(runs: AsyncIterable<RunRow>): Promise<string[]> {
  const ids: string[] = [];
  for await (const { runId } of runs) ids.push(runId);
  return ids;
}

describe('the list of runs', () => {
  it('is requested with the query, and with nothing more', async () => {
    const query = { limit: 3, startingAfter: 'a', status: 'failed', since: 1, until: 2 } as const;
    const { client, service } = await startScript(
      {
        expect: {
          path: '/runs',
          query: { limit: '3', startingAfter: 'a', status: 'failed', since: '1', until: '2' },
        },
        answer: lastPage(1, 1),
      },
      { expect: { path: '/runs', query: { limit: null, status: null } }, answer: page(1, 1) },
    );

    expect(await client.runs.list(query)).toMatchObject({ hasMore: false });
    expect(await client.runs.list()).toMatchObject({ hasMore: true });
    expect(service.calls).toHaveLength(2);
  });

  it('continues page by page to its end', async () => {
    const { client } = await startScript(
      {
        expect: { query: { limit: '50', startingAfter: null, status: 'failed' } },
        answer: page(1, 50),
      },
      {
        expect: { query: { limit: '50', startingAfter: 'r50', status: 'failed' } },
        answer: page(51, 100),
      },
      {
        expect: { query: { limit: '50', startingAfter: 'r100', status: 'failed' } },
        answer: lastPage(101, 107),
      },
    );
    expect(await readIds(client.runs.all({ status: 'failed' }))).toEqual(idsUpTo(107));
  });

  it('asks for no more rows than are wanted', async () => {
    const { client } = await startScript(
      { expect: { query: { limit: '50', startingAfter: 'x' } }, answer: page(1, 50) },
      { expect: { query: { limit: '10', startingAfter: 'r50' } }, answer: page(51, 60) },
    );
    expect(await readIds(client.runs.all({ limit: 60, startingAfter: 'x' }))).toEqual(idsUpTo(60));
  });

  it('yields no more rows than requested, whatever the service sends', async () => {
    const { client } = await startScript({ answer: page(1, 50) });
    expect(await readIds(client.runs.all({ limit: 2 }))).toEqual(idsUpTo(2));
  });

  it('asks for a page only when it is wanted', async () => {
    const { client, service } = await startScript({ answer: page(1, 50) });
    for await (const { runId } of client.runs.all()) if (runId === 'r50') break;
    expect(service.calls).toHaveLength(1);
  });

  it('pages backwards, still newest first', async () => {
    const { client } = await startScript(
      { expect: { query: { limit: '50', endingBefore: 'x' } }, answer: page(21, 70) },
      { expect: { query: { limit: '20', endingBefore: 'r21' } }, answer: page(1, 20) },
    );
    expect(await readIds(client.runs.all({ limit: 70, endingBefore: 'x' }))).toEqual(idsUpTo(70));
  });

  it('keeps the rows next to the cursor if it pages backwards', async () => {
    const { client } = await startScript({ answer: page(1, 5) });
    expect(await readIds(client.runs.all({ limit: 2, endingBefore: 'x' }))).toEqual(['r4', 'r5']);
  });

  it('ends at an empty page', async () => {
    const { client } = await startScript({ answer: EMPTY_PAGE });
    expect(await readIds(client.runs.all())).toEqual([]);
  });

  it('fails if a page comes again', async () => {
    const { client } = await startScript({ answer: page(1, 2), times: 2 });
    const error = await getRejection(readIds(client.runs.all()), ProtocolError);
    expect(error.message).toContain('again');
  });

  it('fails if the pages begin again', async () => {
    const { client } = await startScript(
      { answer: page(1, 2) },
      { answer: page(3, 4) },
      { answer: page(5, 6) },
      { answer: page(1, 2) },
    );
    const error = await getRejection(readIds(client.runs.all()), ProtocolError);
    expect(error.message).toContain('again');
  });
});
