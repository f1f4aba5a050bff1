import type { PromptService } from '../../../client/client.ts';
import type { RunPage, RunRow } from '../../../wire/index.ts';
import type { RunsListRequest } from './list-request.ts';

/** Where a list that was cut off goes on. */
export interface Rest {
  readonly flag: '--starting-after' | '--ending-before';
  readonly cursor: string;
}

/** Rows page by page, newest first; returns where the list goes on, if it was cut off. */
export type Pages = AsyncGenerator<readonly RunRow[], Rest | undefined>;

/** The pages that a request asks for, fetched as they are needed. */
export function runPages(runs: PromptService['runs'], request: RunsListRequest, signal: AbortSignal): Pages {
  const { limit, query } = request;
  const pages = runs.pages({ ...query, ...(Number.isFinite(limit) && { limit }) }, { signal });
  return query.endingBefore === undefined ? olderRuns(pages) : newerRuns(pages);
}

async function* olderRuns(pages: AsyncIterable<RunPage>): Pages {
  let rest: Rest | undefined;
  for await (const { rows, hasMore } of pages) {
    yield rows;
    rest = restAt('--starting-after', rows.at(-1), hasMore);
  }
  return rest;
}

/** Each page is newer than the one before, so nothing can be given before all of them are there. */
async function* newerRuns(pages: AsyncIterable<RunPage>): Pages {
  let rest: Rest | undefined;
  const held: (readonly RunRow[])[] = [];
  for await (const { rows, hasMore } of pages) {
    held.unshift(rows);
    rest = restAt('--ending-before', rows[0], hasMore);
  }
  yield held.flat();
  return rest;
}

function restAt(flag: Rest['flag'], edge: RunRow | undefined, hasMore: boolean): Rest | undefined {
  return hasMore && edge !== undefined ? { flag, cursor: edge.runId } : undefined;
}
