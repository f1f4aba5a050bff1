import {
  DEFAULT_LIST_LIMIT,
  isUuid,
  RUN_STATUSES,
  type RunListQuery,
  type RunStatus,
} from '../../../wire/index.ts';
import { usageError } from '../../errors.ts';
import { didYouMean } from '../../inputs/nearest.ts';
import { parseMoment } from './moment.ts';

/** The flags of `runs list` as they were given. */
export interface RunsListFlags {
  readonly limit?: string;
  readonly all?: boolean;
  readonly status?: string;
  readonly since?: string;
  readonly until?: string;
  readonly startingAfter?: string;
  readonly endingBefore?: string;
  readonly ndjson?: boolean;
}

/** What is asked for, checked. */
export interface RunsListRequest {
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
  const since = flags.since === undefined ? undefined : parseMoment(flags.since, '--since', now, 'down');
  const until = flags.until === undefined ? undefined : parseMoment(flags.until, '--until', now, 'up');
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
    throw usageError(`--limit: ${JSON.stringify(limit)} is no whole number of 1 or more`);
  }
  return Number(limit);
}

function cursorOf(cursor: string | undefined, flag: string): string | undefined {
  if (cursor === undefined || isUuid(cursor)) return cursor;
  throw usageError(
    `${flag}: ${JSON.stringify(cursor)} is no run id`,
    'a run id is a UUID: `promptrun runs list` shows them',
  );
}

function statusOf(status: string | undefined): RunStatus | undefined {
  if (status === undefined) return undefined;
  const known = RUN_STATUSES.find(one => one === status);
  if (known !== undefined) return known;
  throw usageError(
    `--status: there is no status ${JSON.stringify(status)}${didYouMean(status, RUN_STATUSES)}`,
    `statuses are ${RUN_STATUSES.join(', ')}`,
  );
}

function iso(seconds: number): string {
  return new Date(seconds * 1000).toISOString();
}

function withoutUndefined<T extends object>(fields: T): { [K in keyof T]?: NonNullable<T[K]> } {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]?: NonNullable<T[K]>;
  };
}
