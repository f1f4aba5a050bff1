import { MAX_LIST_LIMIT, type RunRow } from '../wire/index.ts';
import { NetworkError, ProtocolError, ServiceError } from './errors.ts';
import type { ServiceClock } from './http-session.ts';
import type { ReadOptions } from './request.ts';
import type { Runs } from './runs.ts';

const SECOND_MS = 1000;
/** How much earlier is asked for while the service's clock is not known, so that its rounding needs no second look. */
const MARGIN_S = 2;
/** A run that was created later than this after its request was sent is another's. */
const WINDOW_S = 600;
const MAX_PAGES = 100;

/** What the search needs of a client; `PromptService` is one. */
export interface LostRunClient {
  readonly runs: Pick<Runs, 'list' | 'pages'>;
  readonly clock: ServiceClock;
}

/** What is known of a creation that was never answered. */
export interface LostCreation {
  readonly promptVersionId: string;
  /** When it was sent, by the local clock, in milliseconds since the Unix epoch. */
  readonly sentAt: number;
  /**
   * How far the service's clock was ahead of the local one then (`ServiceClock.offsetMs`); wins over what is known now,
   * since the local clock may have been corrected meanwhile.
   */
  readonly clockOffsetMs?: number | undefined;
}

/** How runs of lost creations are looked for. */
export interface LostRunSearch {
  /** Runs that are known to be others. */
  readonly knownRunIds: ReadonlySet<string>;
  /** Pages of 50 rows that are read at most; 100 by default. */
  readonly maxPages?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** What the list shows of a lost creation. It has no inputs, so a candidate may be anybody's with the same key. */
export interface FoundRuns {
  /** Every run that fits, newest first. */
  readonly candidates: readonly RunRow[];
  /** Whether the list was read to its end; otherwise there may be more candidates. */
  readonly complete: boolean;
}

/**
 * Looks for the run that a creation made whose answer was lost: of the same prompt version, created within ten minutes
 * from then by the service's own clock, and not known. The clock is learned from `Date` headers, if need be during the
 * search itself.
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

/** `findLostRun` for many creations with one pass over the list; the results in their order. */
export async function findLostRuns(
  client: LostRunClient,
  creations: readonly LostCreation[],
  search: LostRunSearch,
): Promise<FoundRuns[]> {
  if (creations.length === 0) return [];
  const { rows, complete } = await rowsAround(client, creations, search);
  return creations.map(creation => {
    const window = windowOf(client, creation);
    const candidates = rows.filter(row => fits(row, creation, window) && !search.knownRunIds.has(row.runId));
    return { candidates, complete };
  });
}

/**
 * Returns true if a creation that failed with this error was not answered by the service: no answer came, one cut short,
 * an intermediary's, or a 504 without the run's id. Any other fault of the service in its envelope is its answer.
 */
export function answerIsLost(error: unknown): boolean {
  if (error instanceof NetworkError) return !error.nothingSent;
  const { httpStatus } = error instanceof ProtocolError || error instanceof ServiceError ? error : {};
  if (httpStatus === undefined) return error instanceof ProtocolError;
  if (error instanceof ServiceError) return !('runId' in error) && httpStatus === 504;
  return httpStatus < 300 || httpStatus >= 500;
}

/** A span of the service's time, in Unix seconds; the end is not part of it. */
interface Window {
  readonly since: number;
  readonly until: number;
}

async function rowsAround(
  client: LostRunClient,
  creations: readonly LostCreation[],
  { signal, maxPages = MAX_PAGES }: LostRunSearch,
): Promise<Listed> {
  const options = { signal };
  if (clockIsKnown(client, creations)) return rowsIn(client, spansOf(client, creations), maxPages, options);
  // A service that was not heard of yet is first asked by the local clock, which its answer may prove wrong.
  const guess = earliest(client, creations) - MARGIN_S;
  const { rows, hasMore } = await client.runs.list({ since: guess, limit: MAX_LIST_LIMIT }, options);
  if (!hasMore && earliest(client, creations) >= guess) return { rows, complete: true };
  return rowsIn(client, spansOf(client, creations), maxPages - 1, options);
}

interface Listed {
  readonly rows: readonly RunRow[];
  readonly complete: boolean;
}

async function rowsIn(
  client: LostRunClient,
  spans: readonly Window[],
  maxPages: number,
  options: ReadOptions,
): Promise<Listed> {
  const rows: RunRow[] = [];
  let left = maxPages;
  for (const span of spans) {
    if (left <= 0) return { rows, complete: false };
    for await (const page of client.runs.pages({ ...span }, options)) {
      rows.push(...page.rows);
      left -= 1;
      if (left <= 0 && page.hasMore) return { rows, complete: false };
    }
  }
  return { rows, complete: true };
}

function clockIsKnown({ clock }: LostRunClient, creations: readonly LostCreation[]): boolean {
  return clock.offsetMs !== undefined || creations.every(({ clockOffsetMs }) => clockOffsetMs !== undefined);
}

function earliest(client: LostRunClient, creations: readonly LostCreation[]): number {
  return Math.min(...creations.map(creation => windowOf(client, creation).since));
}

/** The times around the creations, the latest first; what overlaps is one. */
function spansOf(client: LostRunClient, creations: readonly LostCreation[]): Window[] {
  const windows = creations.map(creation => windowOf(client, creation));
  const spans: Window[] = [];
  for (const window of windows.sort((one, other) => other.since - one.since)) {
    const last = spans.at(-1);
    if (last === undefined || window.until < last.since) spans.push(window);
    else spans[spans.length - 1] = { since: window.since, until: last.until };
  }
  return spans;
}

// Dates have whole seconds, so the second of the creation counts as after it.
function windowOf({ clock }: LostRunClient, { sentAt, clockOffsetMs }: LostCreation): Window {
  const since = Math.floor((sentAt + (clockOffsetMs ?? clock.offsetMs ?? 0)) / SECOND_MS);
  return { since, until: since + WINDOW_S };
}

function fits(row: RunRow, { promptVersionId }: LostCreation, { since, until }: Window): boolean {
  if (row.promptVersionId !== promptVersionId) return false;
  const createdAt = Date.parse(row.createdAt);
  return Number.isNaN(createdAt) || (createdAt >= since * SECOND_MS && createdAt < until * SECOND_MS);
}
