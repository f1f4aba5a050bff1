import type { RunListQuery, RunPage, RunRow } from '../wire/index.ts';
import type { PromptService } from './client.ts';
import { NetworkError, ProtocolError, ServiceError } from './errors.ts';

const SECOND_MS = 1000;
/** How much earlier is asked for while the service's clock is not known, so that its rounding needs no second look. */
const MARGIN_S = 2;
/** A run that was created later than this after its request was sent is another's. */
const WINDOW_S = 600;
const MAX_PAGES = 40;

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
  /** Pages of 50 rows that are read at most; 40 by default. */
  readonly maxPages?: number;
  readonly signal?: AbortSignal;
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
  client: PromptService,
  { knownRunIds, maxPages, signal, ...creation }: LostCreation & LostRunSearch,
): Promise<FoundRuns> {
  const search = { knownRunIds, ...(maxPages !== undefined && { maxPages }), ...(signal && { signal }) };
  const [found] = await findLostRuns(client, [creation], search);
  return found ?? { candidates: [], complete: true };
}

/** `findLostRun` for many creations with one pass over the list; the results in their order. */
export async function findLostRuns(
  client: PromptService,
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
 * Whether a creation that failed with this error may have made a run all the same: no answer, one cut short, or an
 * intermediary's.
 */
export function answerIsLost(error: unknown): boolean {
  if (error instanceof NetworkError) return !error.nothingSent;
  const { httpStatus } = error instanceof ProtocolError || error instanceof ServiceError ? error : {};
  if (httpStatus === undefined) return error instanceof ProtocolError;
  if (error instanceof ServiceError) return !('runId' in error) && [502, 503, 504].includes(httpStatus);
  return httpStatus < 300 || httpStatus >= 500;
}

/** A span of the service's time, in Unix seconds; the end is not part of it. */
interface Window {
  readonly since: number;
  readonly until: number;
}

// A service that was not heard of yet is first asked by the local clock, which its answer may prove wrong.
async function rowsAround(
  client: PromptService,
  creations: readonly LostCreation[],
  { signal, maxPages = MAX_PAGES }: LostRunSearch,
): Promise<{ rows: RunRow[]; complete: boolean }> {
  const pagesOf = (query: RunListQuery): AsyncGenerator<RunPage> =>
    client.runs.pages(query, signal && { signal });
  const rows: RunRow[] = [];
  let guess = clockIsKnown(client, creations) ? undefined : spanOf(client, creations).since - MARGIN_S;
  let pages = pagesOf(guess === undefined ? { ...spanOf(client, creations) } : { since: guess });
  for (let read = 1; ; read++) {
    const next = await pages.next();
    if (next.done) return { rows, complete: true };
    const learned = spanOf(client, creations);
    if (guess !== undefined && (learned.since < guess || next.value.hasMore)) pages = pagesOf({ ...learned });
    else rows.push(...next.value.rows);
    guess = undefined;
    if (read === maxPages) return { rows, complete: !next.value.hasMore };
  }
}

function clockIsKnown({ clock }: PromptService, creations: readonly LostCreation[]): boolean {
  return clock.offsetMs !== undefined || creations.every(({ clockOffsetMs }) => clockOffsetMs !== undefined);
}

function spanOf(client: PromptService, creations: readonly LostCreation[]): Window {
  const windows = creations.map(creation => windowOf(client, creation));
  return {
    since: Math.min(...windows.map(({ since }) => since)),
    until: Math.max(...windows.map(({ until }) => until)),
  };
}

// Dates have whole seconds, so the second of the creation counts as after it.
function windowOf({ clock }: PromptService, { sentAt, clockOffsetMs }: LostCreation): Window {
  const since = Math.floor((sentAt + (clockOffsetMs ?? clock.offsetMs ?? 0)) / SECOND_MS);
  return { since, until: since + WINDOW_S };
}

function fits(row: RunRow, { promptVersionId }: LostCreation, { since, until }: Window): boolean {
  if (row.promptVersionId !== promptVersionId) return false;
  const createdAt = Date.parse(row.createdAt);
  return Number.isNaN(createdAt) || (createdAt >= since * SECOND_MS && createdAt < until * SECOND_MS);
}
