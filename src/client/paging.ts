import { MAX_LIST_LIMIT } from '../wire/index.ts';
import { ProtocolError } from './errors.ts';

/** A list query whose `limit` is the number of rows wanted in all: any number, or undefined for every row. */
export interface PagedQuery {
  readonly limit?: number;
  readonly startingAfter?: string;
  readonly endingBefore?: string;
}

export interface Page<R> {
  readonly rows: R[];
  readonly hasMore: boolean;
}

/** A list with cursors. */
export interface PagedList<Q extends PagedQuery, P extends Page<unknown>> {
  /** What is listed, for messages. */
  readonly of: string;
  readonly fetch: (query: Q) => Promise<P>;
  /** The cursor that stands for a row. */
  readonly cursorOf: (row: P['rows'][number]) => string;
  /** Where a row lies of the time that is asked for; a service may list others as well. Every row is within by default. */
  readonly timeOf?: (row: P['rows'][number]) => 'before' | 'within' | 'after';
}

/**
 * Pages as they arrive. Forwards, each page is older than the one before; with `endingBefore` each is newer, and the
 * rows of a page are newest first all the same.
 *
 * @throws {ProtocolError} if the list comes back to where it was, or has more than 10,000 pages
 */
export async function* pagesOf<Q extends PagedQuery, P extends Page<unknown>>(
  list: PagedList<Q, P>,
  query: Q,
): AsyncGenerator<P> {
  const backwards = query.endingBefore !== undefined;
  const cursors = new Set<string>();
  let wanted = query.limit ?? Number.POSITIVE_INFINITY;
  let cursor = backwards ? query.endingBefore : query.startingAfter;
  for (let count = 1; wanted > 0; count += 1) {
    checkPageCount(list.of, count);
    if (cursor !== undefined) cursors.add(cursor);
    const at = cursor === undefined ? {} : { [backwards ? 'endingBefore' : 'startingAfter']: cursor };
    const page = await list.fetch({ ...query, ...at, limit: Math.min(wanted, MAX_LIST_LIMIT) });
    const times = page.rows.map(row => list.timeOf?.(row) ?? 'within');
    const rows = page.rows.filter((_, index) => times[index] === 'within');
    const hasMore = page.hasMore && !times.includes(backwards ? 'after' : 'before');
    // A service may send more than it was asked for; the rows next to the cursor are the ones wanted.
    const cut = backwards ? rows.slice(-wanted) : rows.slice(0, wanted);
    yield { ...page, rows: cut, hasMore };
    wanted -= rows.length;
    const next = backwards ? page.rows[0] : page.rows.at(-1);
    if (!hasMore || next === undefined) return;
    cursor = list.cursorOf(next);
    if (cursors.has(cursor)) {
      throw new ProtocolError(`the service gives the same page of ${list.of} again and again`);
    }
  }
}

/** Pages of one list at most: a service could send them without end. */
const MOST_PAGES = 10_000;

/** @throws {ProtocolError} for a list that never ends */
export function checkPageCount(of: string, count: number): void {
  if (count <= MOST_PAGES) return;
  throw new ProtocolError(`the service's list of ${of} did not end within ${MOST_PAGES} pages`);
}

/**
 * Every row that fits, newest first, holding one page at a time. With `endingBefore` the newest come last from the
 * service, so all that fit are collected first.
 */
export async function* rowsOf<R>(pages: AsyncIterable<Page<R>>, query: PagedQuery): AsyncGenerator<R> {
  if (query.endingBefore === undefined) {
    for await (const { rows } of pages) yield* rows;
    return;
  }
  const collected: R[][] = [];
  for await (const { rows } of pages) collected.push(rows);
  for (const rows of collected.reverse()) yield* rows;
}
