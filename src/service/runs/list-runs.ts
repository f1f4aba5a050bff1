import type { RunListQuery } from '../../wire/index.ts';
import { invalid, notFound } from '../http/api-error.ts';
import type { StoredRunPage } from '../store/run-list.ts';
import type { Store } from '../store/store.ts';

const MICROSECONDS = 1_000_000;

/** One page of a user's runs (interface §4.1). */
export async function listRuns(
  store: Store,
  userId: number,
  query: RunListQuery & { limit: number },
): Promise<StoredRunPage> {
  const { startingAfter, endingBefore, since, until, status, limit } = query;
  if (startingAfter !== undefined && endingBefore !== undefined) {
    throw invalid('startingAfter and endingBefore can’t be sent together');
  }
  if (since !== undefined && until !== undefined && since >= until) {
    throw invalid('since must be less than until');
  }
  const page = await store.runList.page({
    userId,
    limit,
    status,
    startingAfter: startingAfter?.toLowerCase(),
    endingBefore: endingBefore?.toLowerCase(),
    from: since === undefined ? undefined : since * MICROSECONDS,
    until: until === undefined ? undefined : until * MICROSECONDS,
  });
  if (!page) {
    throw notFound(`${startingAfter === undefined ? 'endingBefore' : 'startingAfter'} is not a run of yours`);
  }
  return page;
}
