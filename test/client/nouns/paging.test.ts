import { expect, it } from 'vitest';
import { iteratePages } from '../../../src/client/nouns/paging.ts';

it('stops at a list that never ends, and holds one page at a time', async () => {
  let sentPageCount = 0;
  const list = {
    noun: 'runs',
    fetch: () => {
      sentPageCount += 1;
      return Promise.resolve({ rows: [`r${sentPageCount}`], hasMore: true });
    },
    rowCursor: (row: string) => row,
  };
  const read = async (): Promise<void> => {
    for await (const { rows } of iteratePages(list, {})) expect(rows).toHaveLength(1);
  };

  await expect(read()).rejects.toThrow("the service's list of runs did not end within 10000 pages");
  expect(sentPageCount).toBe(10_000);
});
