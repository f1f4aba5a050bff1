import type { PromptService } from '../../../client/client.ts';
import {
  DEFAULT_LIST_LIMIT,
  isUuid,
  RUN_STATUSES,
  type RunListQuery,
  type RunPage,
  type RunRow,
  type RunStatus,
} from '../../../wire/index.ts';
import { unknownName } from '../../core/nearest.ts';
import { usageError } from '../../errors.ts';
import { parseTime } from '../../inputs/time.ts';

/** The flags of `runs list` as they were given. */
export interface RunsListFlags {
  readonly limit?: string;
  readonly all?: boolean;
  readonly status?: string;
  readonly since?: string;
  readonly until?: string;
  readonly startingAfter?: string;
  readonly endingBefore?: string;
  /** A prompt, by a name that `run` takes. */
  readonly prompt?: string;
  readonly ndjson?: boolean;
}

/** What is asked for, checked. */
interface RunsListRequest {
  /** Infinity for all of them. */
  readonly limit: number;
  /** Every field of the query but the page's limit. */
  readonly query: Omit<RunListQuery, 'limit'>;
}

/** Refuses whatever the service would refuse. @throws {CliError} USAGE_ERROR naming the flag */
export function runsListRequest(flags: RunsListFlags, now: number): RunsListRequest {
  const limit = limitOf(flags);
  if (flags.startingAfter !== undefined && flags.endingBefore !== undefined) {
    throw usageError('--starting-after and --ending-before exclude each other', 'give one of the two');
  }
  const since = flags.since === undefined ? undefined : parseTime(flags.since, '--since', now, 'down');
  const until = flags.until === undefined ? undefined : parseTime(flags.until, '--until', now, 'up');
  if (since !== undefined && until !== undefined && since >= until) {
    throw usageError(`--since (${iso(since)}) must be earlier than --until (${iso(until)})`);
  }
  const query = {
    startingAfter: cursorOf(flags.startingAfter, '--starting-after'),
    endingBefore: cursorOf(flags.endingBefore, '--ending-before'),
    status: statusOf(flags.status),
    since,
    until,
  };
  return { limit, query: withoutUndefined(query) };
}

function limitOf({ limit, all }: RunsListFlags): number {
  if (limit === undefined) return all === true ? Number.POSITIVE_INFINITY : DEFAULT_LIST_LIMIT;
  if (all === true) throw usageError('--all and --limit exclude each other', 'give one of the two');
  if (!/^\d{1,15}$/u.test(limit) || Number(limit) < 1) {
    throw usageError(`--limit: ${JSON.stringify(limit)} is not a whole number of 1 or more`);
  }
  return Number(limit);
}

function cursorOf(cursor: string | undefined, flag: string): string | undefined {
  if (cursor === undefined || isUuid(cursor)) return cursor;
  throw usageError(
    `${flag}: ${JSON.stringify(cursor)} is not a run id`,
    'a run id is a UUID: `promptrun runs list` shows them',
  );
}

function statusOf(status: string | undefined): RunStatus | undefined {
  if (status === undefined) return undefined;
  const known = RUN_STATUSES.find(one => one === status);
  if (known !== undefined) return known;
  throw usageError(...unknownName('status', status, RUN_STATUSES));
}

function iso(seconds: number): string {
  return new Date(seconds * 1000).toISOString();
}

function withoutUndefined<T extends object>(fields: T): { [K in keyof T]?: NonNullable<T[K]> } {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]?: NonNullable<T[K]>;
  };
}

/** Where a list that was cut off goes on. */
export interface Rest {
  readonly flag: '--starting-after' | '--ending-before';
  readonly cursor: string;
}

/** Rows page by page, newest first; returns where the list goes on, if it was cut off. */
export type Pages = AsyncGenerator<readonly RunRow[], Rest | undefined>;

/** The pages that a request asks for, fetched as they are needed. */
export function runPages(
  runs: PromptService['runs'],
  { limit, query, promptVersions }: RunsListRequest & { readonly promptVersions?: ReadonlySet<string> },
  signal: AbortSignal,
): Pages {
  const isLimited = Number.isFinite(limit) && promptVersions === undefined;
  const all = runs.pages({ ...query, ...(isLimited && { limit }) }, { signal });
  const goesBack = query.endingBefore !== undefined;
  const pages = promptVersions === undefined ? all : only(all, promptVersions, limit, goesBack);
  return goesBack ? newerRuns(pages) : olderRuns(pages);
}

/** The rows of these versions alone, at most so many; the service has no such filter. */
async function* only(
  pages: AsyncIterable<RunPage>,
  promptVersions: ReadonlySet<string>,
  limit: number,
  goesBack: boolean,
): AsyncGenerator<RunPage> {
  let left = limit;
  for await (const { rows, hasMore } of pages) {
    const fitting = rows.filter(({ promptVersionId }) => promptVersions.has(promptVersionId));
    const taken = goesBack ? fitting.slice(Math.max(0, fitting.length - left)) : fitting.slice(0, left);
    left -= taken.length;
    yield { rows: taken, hasMore: hasMore || taken.length < fitting.length };
    if (left === 0) return;
  }
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
  const collected: (readonly RunRow[])[] = [];
  for await (const { rows, hasMore } of pages) {
    collected.unshift(rows);
    rest = restAt('--ending-before', rows[0], hasMore);
  }
  yield collected.flat();
  return rest;
}

function restAt(flag: Rest['flag'], edge: RunRow | undefined, hasMore: boolean): Rest | undefined {
  return hasMore && edge !== undefined ? { flag, cursor: edge.runId } : undefined;
}
