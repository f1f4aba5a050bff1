import { expect, it } from 'vitest';
import { RunRows } from '../../../src/service/runs/run-rows.ts';
import type { StoredRun } from '../../../src/service/store/run-records.ts';

function storedRun(id: string): StoredRun {
  const outputs = [{ type: 'text' as const, data: `says ${id}` }];
  return {
    id,
    promptVersionId: 'v',
    name: 'n',
    status: 'succeeded',
    createdAt: 0,
    credits: 0,
    tokens: 1,
    outputs,
  };
}

it('rows of a page are all there when those that are kept become too many', async () => {
  const runList = {
    page: () => Promise.resolve(undefined),
    read: (ids: readonly string[]) => Promise.resolve(ids.map(storedRun)),
  };
  const rows = new RunRows({ runList }, () => '', { mostKept: 3 });
  const page = async (...ids: string[]): Promise<string[]> =>
    (await rows.json(ids, 'http://here')).map(row => (JSON.parse(row) as { runId: string }).runId);
  expect(await page('a', 'b', 'c')).toEqual(['a', 'b', 'c']);
  expect(await page('x', 'a', 'y', 'b', 'c')).toEqual(['x', 'a', 'y', 'b', 'c']);
});
