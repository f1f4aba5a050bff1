import { MAX_LIST_LIMIT, type RunRow } from '../wire/index.ts';
import { NetworkError, ProtocolError, ServiceError } from './errors.ts';
import type { ServiceClock } from './http/http-session.ts';
import type { Runs } from './nouns/runs.ts';
import type { ReadOptions } from './request-options.ts';

const SECOND_MS = 1000;

/**
 * Seconds that the search adds at its start while the service's clock is unknown, so that rounding
 * needs no second search.
 */
const CLOCK_MARGIN_S = 2;

/** Seconds after its request was sent within which a run is created. */
const CREATION_WINDOW_S = 600;

const MAX_SEARCHED_PAGES = 100;

/** The part of a client that the search needs; `PromptService` has it. */
export interface LostRunClient {
  readonly runs: Pick<Runs, 'list' | 'pages'>;
  readonly clock: ServiceClock;
}

/** A creation that was never answered. */
export interface LostCreation {
  readonly promptVersionId: string;
  /** The local time at which it was sent, in milliseconds since the Unix epoch. */
  readonly sentAt: number;
  /**
   * Milliseconds by which the service's clock was ahead of the local one at that time
   * (`ServiceClock.offsetMs`). Wins over today's offset, because the local clock may have been
   * corrected since.
   */
  readonly clockOffsetMs?: number | undefined;
}

/** Options of a search for the runs of lost creations. */
export interface LostRunSearch {
  /** Runs that are known to belong to other creations. */
  readonly knownRunIds: ReadonlySet<string>;
  /** Maximum number of pages of 50 rows to read; 100 by default. */
  readonly maxPages?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

/**
 * The runs that may belong to a lost creation. Lists show no inputs, so another user of the key may
 * have made them.
 */
export interface FoundRuns {
  /** Every matching run, newest first. */
  readonly candidates: readonly RunRow[];
  /** True if the list was read to its end; otherwise there may be more candidates. */
  readonly complete: boolean;
}

/**
 * Searches for the run of a creation whose answer was lost. Candidates have the same prompt
 * version, were created within ten minutes after the creation was sent, by the service's own clock,
 * and are not known runs. The clock is learned from `Date` headers, if necessary during the search.
 *
 * @throws what `runs.list` throws
 */
export async function findLostRun(
  client: LostRunClient,
  creation: LostCreation & LostRunSearch,
): Promise<FoundRuns> {
  const [runs] = await findLostRuns(client, [creation], creation);
  return runs ?? { candidates: [], complete: true };
}

/**
 * Runs `findLostRun` for many creations in one pass over the list; results are in the order of the
 * creations.
 */
export async function findLostRuns(
  client: LostRunClient,
  creations: readonly LostCreation[],
  search: LostRunSearch,
): Promise<FoundRuns[]> {
  if (creations.length === 0) return [];
  const { rows, complete } = await fetchRowsAround(client, creations, search);
  return creations.map(creation => {
    const window = computeCreationWindow(client, creation);
    const candidates = rows.filter(
      row => mayBeLostRun(row, creation, window) && !search.knownRunIds.has(row.runId),
    );
    return { candidates, complete };
  });
}

/**
 * Returns true if the service did not answer a creation that failed with this error. No answer
 * came, or it was cut off, or came from an intermediary, or was a 504 without a run id. Any other
 * error envelope of the service is an answer.
 */
export function answerIsLost(error: unknown): boolean {
  if (error instanceof NetworkError) return !error.nothingSent;
  if (error instanceof ServiceError) return error.httpStatus === 504 && !('runId' in error);
  if (!(error instanceof ProtocolError)) return false;
  const { httpStatus } = error;
  return httpStatus === undefined || httpStatus < 300 || httpStatus >= 500;
}

/** A span of the service's time in Unix seconds; `until` is exclusive. */
interface TimeSpan {
  readonly since: number;
  readonly until: number;
}

async function fetchRowsAround(
  client: LostRunClient,
  creations: readonly LostCreation[],
  { signal, maxPages = MAX_SEARCHED_PAGES }: LostRunSearch,
): Promise<ListedRows> {
  const options = { signal };
  if (isClockKnown(client, creations)) {
    return fetchRowsWithin(client, mergeWindows(client, creations), maxPages, options);
  }

  // Without an answer from the service yet, start from the local clock; the answer may prove it
  // wrong.
  const guessedStart = computeEarliestStart(client, creations) - CLOCK_MARGIN_S;
  const { rows, hasMore } = await client.runs.list(
    { since: guessedStart, limit: MAX_LIST_LIMIT },
    options,
  );
  const isComplete = !hasMore && computeEarliestStart(client, creations) >= guessedStart;
  if (isComplete) return { rows, complete: true };
  return fetchRowsWithin(client, mergeWindows(client, creations), maxPages - 1, options);
}

interface ListedRows {
  readonly rows: readonly RunRow[];
  readonly complete: boolean;
}

async function fetchRowsWithin(
  client: LostRunClient,
  spans: readonly TimeSpan[],
  maxPages: number,
  options: ReadOptions,
): Promise<ListedRows> {
  const rows: RunRow[] = [];
  let pagesLeft = maxPages;
  for (const span of spans) {
    if (pagesLeft <= 0) return { rows, complete: false };
    for await (const page of client.runs.pages({ ...span }, options)) {
      rows.push(...page.rows);
      pagesLeft -= 1;
      if (pagesLeft <= 0 && page.hasMore) return { rows, complete: false };
    }
  }

  return { rows, complete: true };
}

function isClockKnown({ clock }: LostRunClient, creations: readonly LostCreation[]): boolean {
  return (
    clock.offsetMs !== undefined ||
    creations.every(({ clockOffsetMs }) => clockOffsetMs !== undefined)
  );
}

function computeEarliestStart(client: LostRunClient, creations: readonly LostCreation[]): number {
  return Math.min(...creations.map(creation => computeCreationWindow(client, creation).since));
}

/** Returns the time spans around the creations, latest first; overlapping spans are merged. */
function mergeWindows(client: LostRunClient, creations: readonly LostCreation[]): TimeSpan[] {
  const windows = creations.map(creation => computeCreationWindow(client, creation));
  const spans: TimeSpan[] = [];
  for (const window of windows.sort((one, other) => other.since - one.since)) {
    const last = spans.at(-1);
    if (last === undefined || window.until < last.since) {
      spans.push(window);
    } else {
      spans[spans.length - 1] = { since: window.since, until: last.until };
    }
  }

  return spans;
}

// `Date` headers have whole seconds, so the whole second of the creation is included.
function computeCreationWindow(
  { clock }: LostRunClient,
  { sentAt, clockOffsetMs }: LostCreation,
): TimeSpan {
  const since = Math.floor((sentAt + (clockOffsetMs ?? clock.offsetMs ?? 0)) / SECOND_MS);
  return { since, until: since + CREATION_WINDOW_S };
}

function mayBeLostRun(
  row: RunRow,
  { promptVersionId }: LostCreation,
  { since, until }: TimeSpan,
): boolean {
  if (row.promptVersionId !== promptVersionId) return false;
  const createdAt = Date.parse(row.createdAt);
  return (
    Number.isNaN(createdAt) || (createdAt >= since * SECOND_MS && createdAt < until * SECOND_MS)
  );
}
