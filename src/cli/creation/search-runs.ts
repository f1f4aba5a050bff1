import { findLostRuns, type LostCreation } from '../../client/find-lost-run.ts';
import type { RunRow } from '../../wire/index.ts';
import type { Connection, Context } from '../context.ts';
import { configError } from '../core/errors.ts';
import { SETTINGS } from '../settings/config/setting-keys.ts';
import { type JournalEntry, mayHaveMadeRun } from '../settings/journal/journal-lines.ts';

/**
 * Maximum time between a request and its run, in milliseconds; a later run belongs to another
 * request.
 */
const CREATION_WINDOW_MS = 600_000;

/** The facts about a creation in doubt that a search for its run needs. */
export type UnansweredCreation = Pick<
  JournalEntry,
  'id' | 'time' | 'promptVersionId' | 'clockOffsetMs'
>;

/**
 * The result of a search for the run of a creation in doubt, in the service's list and the journal.
 */
export interface SearchResult {
  /** The run of the creation, if the match is certain enough to adopt. */
  readonly run: RunRow | undefined;
  /** The runs that match, newest first. */
  readonly candidates: readonly RunRow[];
  /** True if the creation certainly made no run. */
  readonly madeNoRun: boolean;
}

export interface SearchOptions {
  readonly signal: AbortSignal;
  /** Maximum number of pages of 50 rows to read. */
  readonly maxPages?: number | undefined;
  /** Runs that are known to belong to other creations, in addition to those in the journal. */
  readonly knownRunIds?: ReadonlySet<string>;
  /** Creations that may have made a run, in addition to those in the journal. */
  readonly otherDoubts?: readonly UnansweredCreation[];
}

/**
 * Searches once for the runs of creations in doubt, in one pass over the list. Adopts a run for a
 * creation only if nobody else uses the key, exactly one run matches, and no other creation of the
 * version may have made it.
 *
 * @throws the client's errors if the list can't be read
 */
export async function searchRuns(
  ctx: Context,
  connection: Connection,
  doubts: readonly UnansweredCreation[],
  options: SearchOptions,
): Promise<SearchResult[]> {
  const searchedDoubts = await listLostRunCandidates(ctx, connection, doubts, options);
  const offsetMs = connection.client.clock.offsetMs ?? 0;
  const mayAdopt =
    isKeyExclusive(ctx) && searchedDoubts.some(({ candidates }) => candidates.length === 1);
  const journaledDoubts = mayAdopt
    ? await collectOtherDoubts(ctx, connection, doubts, offsetMs)
    : [];
  const otherDoubts = [...journaledDoubts, ...(options.otherDoubts ?? [])];

  return searchedDoubts.map(({ doubt, isComplete, candidates }) => {
    const isAmbiguous = otherDoubts.some(other => mayOverlap(other, doubt, offsetMs));
    const isCertain = mayAdopt && isComplete && candidates.length === 1 && !isAmbiguous;
    const ageMs = ctx.clock.now() + offsetMs - toServiceTime(doubt, offsetMs);
    const madeNoRun = isComplete && candidates.length === 0 && ageMs > CREATION_WINDOW_MS;
    return { run: isCertain ? candidates[0] : undefined, candidates, madeNoRun };
  });
}

/** A creation in doubt with the runs in the list that may be its own. */
interface SearchedDoubt {
  readonly doubt: UnansweredCreation;
  readonly candidates: readonly RunRow[];
  /** True if the whole list since the creation was read. */
  readonly isComplete: boolean;
}

async function listLostRunCandidates(
  { journal }: Context,
  { client }: Connection,
  doubts: readonly UnansweredCreation[],
  { signal, maxPages, knownRunIds = new Set() }: SearchOptions,
): Promise<SearchedDoubt[]> {
  const searches = await findLostRuns(client, doubts.map(toLostCreation), {
    knownRunIds: new Set(),
    signal,
    ...(maxPages !== undefined && { maxPages }),
  });

  // Read the journal after the list: every listed run of this machine is then in it.
  const foundIds = searches.flatMap(({ candidates }) => candidates.map(({ runId }) => runId));
  const mentionedIds = await journal.findMentioned(new Set(foundIds));
  const otherRunIds = new Set([...knownRunIds, ...mentionedIds]);
  return doubts.map((doubt, index) => {
    const { candidates, complete } = searches[index] ?? { candidates: [], complete: false };
    const ownCandidates = candidates.filter(({ runId }) => !otherRunIds.has(runId));
    return { doubt, candidates: ownCandidates, isComplete: complete };
  });
}

/**
 * Returns true if the setting or the environment declares that nobody else uses the key.
 *
 * @throws {CliError} if the variable is invalid
 */
function isKeyExclusive({ env, settings }: Pick<Context, 'env' | 'settings'>): boolean {
  const variable = env['PROMPTRUN_EXCLUSIVE_KEY'] ?? '';
  if (variable === '') return settings.get('exclusiveKey') ?? false;
  const isExclusive = SETTINGS.exclusiveKey.parse(variable);
  if (isExclusive === undefined) throw configError('PROMPTRUN_EXCLUSIVE_KEY must be 1 or 0');
  return isExclusive;
}

function toLostCreation({
  promptVersionId,
  time,
  clockOffsetMs,
}: UnansweredCreation): LostCreation {
  return { promptVersionId, sentAt: Date.parse(time), clockOffsetMs };
}

/** Returns true if the run of one creation could be mistaken for the other's, by either clock. */
function mayOverlap(
  otherCreation: UnansweredCreation,
  doubt: UnansweredCreation,
  offsetMs: number,
): boolean {
  if (otherCreation.id === doubt.id || otherCreation.promptVersionId !== doubt.promptVersionId) {
    return false;
  }
  const gapsMs = [
    Date.parse(otherCreation.time) - Date.parse(doubt.time),
    toServiceTime(otherCreation, offsetMs) - toServiceTime(doubt, offsetMs),
  ];
  return gapsMs.some(ms => Math.abs(ms) < CREATION_WINDOW_MS);
}

/**
 * Returns the service's time of a creation in milliseconds since the Unix epoch, by the clock
 * offset then or, if unknown, now.
 */
function toServiceTime({ time, clockOffsetMs }: UnansweredCreation, offsetMs: number): number {
  return Date.parse(time) + (clockOffsetMs ?? offsetMs);
}

/** Returns the other creations in the journal that may have made a run around the same time. */
async function collectOtherDoubts(
  { journal }: Context,
  { serviceName }: Connection,
  doubts: readonly UnansweredCreation[],
  offsetMs: number,
): Promise<UnansweredCreation[]> {
  const oldestLocalTime =
    Math.min(...doubts.map(({ time }) => Date.parse(time))) - CREATION_WINDOW_MS;
  const oldestServiceTime =
    Math.min(...doubts.map(doubt => toServiceTime(doubt, offsetMs))) - CREATION_WINDOW_MS;
  const isOlder = (entry: UnansweredCreation): boolean =>
    Date.parse(entry.time) < oldestLocalTime && toServiceTime(entry, offsetMs) < oldestServiceTime;

  const otherDoubts: UnansweredCreation[] = [];
  for await (const entry of journal.readNewestFirst(isOlder)) {
    if (entry.baseUrl === serviceName && mayHaveMadeRun(entry)) otherDoubts.push(entry);
  }

  return otherDoubts;
}
