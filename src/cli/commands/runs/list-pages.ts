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
  return query.endingBefore === undefined ? olderRuns(pages, limit) : newerRuns(pages, limit);
}

async function* olderRuns(pages: AsyncIterable<RunPage>, limit: number): Pages {
  let wanted = limit;
  let rest: Rest | undefined;
  for await (const page of pages) {
    const rows = page.rows.slice(0, wanted);
    yield rows;
    wanted -= rows.length;
    const cursor = rows.at(-1)?.runId;
    const cutOff = page.hasMore || rows.length < page.rows.length;
    rest = cutOff && cursor !== undefined ? { flag: '--starting-after', cursor } : undefined;
  }
  return rest;
}

/** Each page is newer than the one before, so nothing can be given before all of them are there. */
async function* newerRuns(pages: AsyncIterable<RunPage>, limit: number): Pages {
  let wanted = limit;
  let rest: Rest | undefined;
  const held: (readonly RunRow[])[] = [];
  for await (const page of pages) {
    const rows = page.rows.slice(Math.max(0, page.rows.length - wanted));
    held.unshift(rows);
    wanted -= rows.length;
    const cursor = rows[0]?.runId;
    const cutOff = page.hasMore || rows.length < page.rows.length;
    rest = cutOff && cursor !== undefined ? { flag: '--ending-before', cursor } : undefined;
  }
  yield held.flat();
  return rest;
}
