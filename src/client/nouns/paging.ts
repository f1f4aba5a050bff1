import { MAX_LIST_LIMIT } from '../../wire/index.ts';
import { ProtocolError } from '../errors.ts';

/** Maximum number of pages of one list: a service could send them without end. */
const MAX_LISTED_PAGES = 10_000;

/** A list query whose `limit` counts the rows of all pages together; undefined lists every row. */
export interface PagedQuery {
  readonly limit?: number;
  readonly startingAfter?: string;
  readonly endingBefore?: string;
}

export interface Page<R> {
  readonly rows: R[];
  readonly hasMore: boolean;
}

/** A list that is fetched page by page, with cursors. */
export interface PagedList<Q extends PagedQuery, P extends Page<unknown>> {
  /** The plural noun of the rows, for messages. */
  readonly noun: string;
  readonly fetch: (query: Q) => Promise<P>;
  /** Returns the cursor of a row. */
  readonly rowCursor: (row: P['rows'][number]) => string;
  /**
   * Compares a row with the requested period, because a service may list rows outside it; by
   * default every row is within.
   */
  readonly comparePeriod?: (row: P['rows'][number]) => 'before' | 'within' | 'after';
}

/**
 * Yields pages as they arrive. Each page is older than the one before; with `endingBefore` each is
 * newer, although the rows within a page stay newest first.
 *
 * @throws {ProtocolError} if a cursor repeats, or the list has more than 10,000 pages
 */
export async function* iteratePages<Q extends PagedQuery, P extends Page<unknown>>(
  list: PagedList<Q, P>,
  query: Q,
): AsyncGenerator<P> {
  const isBackwards = query.endingBefore !== undefined;
  const usedCursors = new Set<string>();

  let remainingRows = query.limit ?? Number.POSITIVE_INFINITY;
  let cursor = isBackwards ? query.endingBefore : query.startingAfter;
  for (let pageNumber = 1; remainingRows > 0; pageNumber += 1) {
    checkPageCount(list.noun, pageNumber);
    if (cursor !== undefined) usedCursors.add(cursor);
    const position =
      cursor === undefined ? {} : { [isBackwards ? 'endingBefore' : 'startingAfter']: cursor };
    const page = await list.fetch({
      ...query,
      ...position,
      limit: Math.min(remainingRows, MAX_LIST_LIMIT),
    });
    const { rows, hasMore } = filterByPeriod(list, page, isBackwards);

    // A service may send more than requested; the rows next to the cursor are the wanted ones.
    yield {
      ...page,
      rows: isBackwards ? rows.slice(-remainingRows) : rows.slice(0, remainingRows),
      hasMore,
    };

    remainingRows -= rows.length;
    const lastRow = isBackwards ? page.rows[0] : page.rows.at(-1);
    if (!hasMore || lastRow === undefined) return;

    cursor = list.rowCursor(lastRow);

    if (usedCursors.has(cursor)) {
      throw new ProtocolError(`the service returns the same page of ${list.noun} again and again`);
    }
  }
}

/**
 * Returns the rows of a page within the requested period. No page follows one that leaves the
 * period.
 */
function filterByPeriod<Q extends PagedQuery, P extends Page<unknown>>(
  { comparePeriod }: PagedList<Q, P>,
  page: P,
  isBackwards: boolean,
): Page<unknown> {
  const placements = page.rows.map(row => comparePeriod?.(row) ?? 'within');
  return {
    rows: page.rows.filter((_, index) => placements[index] === 'within'),
    hasMore: page.hasMore && !placements.includes(isBackwards ? 'after' : 'before'),
  };
}

/** Refuses a page past the maximum. @throws {ProtocolError} */
export function checkPageCount(noun: string, pageNumber: number): void {
  if (pageNumber <= MAX_LISTED_PAGES) return;
  throw new ProtocolError(
    `the service's list of ${noun} did not end within ${MAX_LISTED_PAGES} pages`,
  );
}

/**
 * Yields every row, newest first, and holds one page at a time. With `endingBefore` the service
 * sends the newest rows last, so all rows are collected first.
 */
export async function* iterateRows<R>(
  pages: AsyncIterable<Page<R>>,
  query: PagedQuery,
): AsyncGenerator<R> {
  if (query.endingBefore === undefined) {
    for await (const { rows } of pages) yield* rows;
    return;
  }
  const collected: R[][] = [];
  for await (const { rows } of pages) collected.push(rows);
  for (const rows of collected.reverse()) yield* rows;
}
