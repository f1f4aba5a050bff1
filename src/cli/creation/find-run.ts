import { findLostRuns, type LostCreation } from '../../client/recover.ts';
import type { RunRow } from '../../wire/index.ts';
import type { Connection, Context } from '../context.ts';
import { configError } from '../errors.ts';
import { SETTINGS } from '../settings/config/setting-keys.ts';
import { type JournalEntry, mayHaveMadeRun } from '../settings/journal/journal-lines.ts';

/** A run that was created later than this after its request was sent is another's. */
export const WINDOW_MS = 600_000;
/** What is known of a creation in doubt: all that is needed to look for its run. */
export type Doubt = Pick<JournalEntry, 'id' | 'time' | 'promptVersionId' | 'clockOffsetMs'>;

/** What the service's list and the journal say of a creation in doubt. */
export interface Search {
  /** Its run, where it is certain enough to be taken for it. */
  readonly run: RunRow | undefined;
  /** Every run that may be it, newest first. */
  readonly candidates: readonly RunRow[];
  /** Whether it is certain that it made no run. */
  readonly madeNone: boolean;
}

export interface SearchOptions {
  readonly signal: AbortSignal;
  /** Pages of 50 rows that are read at most. */
  readonly maxPages?: number | undefined;
  /** Runs that are known to be others, besides those in the journal. */
  readonly knownRunIds?: ReadonlySet<string>;
  /** Creations that may have made a run, besides those in the journal. */
  readonly otherDoubts?: readonly Doubt[];
}

/** Whether nobody else uses the key, as the setting or the environment says. @throws {CliError} for neither yes nor no */
export function isKeyExclusive({ env, settings }: Pick<Context, 'env' | 'settings'>): boolean {
  const text = env['PROMPTRUN_EXCLUSIVE_KEY'] ?? '';
  if (text === '') return settings.get('exclusiveKey') ?? false;
  const value = SETTINGS.exclusiveKey.parse(text);
  if (value === undefined) throw configError('PROMPTRUN_EXCLUSIVE_KEY must be 1 or 0');
  return value;
}

/**
 * Looks once for the runs of creations in doubt, in one pass over the list. A run is only taken for a creation's where
 * nobody else uses the key, exactly one fits, and no other creation of the version may have made it.
 *
 * @throws what reading the list throws
 */
export async function searchRuns(
  ctx: Context,
  connection: Connection,
  doubts: readonly Doubt[],
  options: SearchOptions,
): Promise<Search[]> {
  const { client } = connection;
  const { signal, maxPages } = options;
  const listed = await findLostRuns(client, doubts.map(lostCreation), {
    knownRunIds: new Set(),
    signal,
    ...(maxPages !== undefined && { maxPages }),
  });
  // Only now: what is listed was in the journal before it was created.
  const offsetMs = client.clock.offsetMs ?? 0;
  const ids = new Set(listed.flatMap(({ candidates }) => candidates.map(({ runId }) => runId)));
  const known = new Set([...(options.knownRunIds ?? []), ...(await ctx.journal.mentioned(ids))]);
  const searched = doubts.map((doubt, at) => {
    const { candidates, complete } = listed[at] ?? { candidates: [], complete: false };
    return { doubt, complete, candidates: candidates.filter(({ runId }) => !known.has(runId)) };
  });
  const mayAdopt = isKeyExclusive(ctx) && searched.some(({ candidates }) => candidates.length === 1);
  const others = mayAdopt ? await othersInDoubt(ctx, connection, doubts, offsetMs) : [];
  return searched.map(({ doubt, complete, candidates }) => {
    const isMistakable = [...others, ...(options.otherDoubts ?? [])].some(other =>
      overlaps(other, doubt, offsetMs),
    );
    const isCertain = mayAdopt && complete && candidates.length === 1 && !isMistakable;
    const age = ctx.clock.now() + offsetMs - serviceTime(doubt, offsetMs);
    const madeNone = complete && candidates.length === 0 && age > WINDOW_MS;
    return { run: isCertain ? candidates[0] : undefined, candidates, madeNone };
  });
}

function lostCreation({ promptVersionId, time, clockOffsetMs }: Doubt): LostCreation {
  return { promptVersionId, sentAt: Date.parse(time), clockOffsetMs };
}

/** Whether the run of one creation could be taken for that of the other, by either clock. */
function overlaps(other: Doubt, doubt: Doubt, offsetMs: number): boolean {
  if (other.id === doubt.id || other.promptVersionId !== doubt.promptVersionId) return false;
  const apart = [
    Date.parse(other.time) - Date.parse(doubt.time),
    serviceTime(other, offsetMs) - serviceTime(doubt, offsetMs),
  ];
  return apart.some(ms => Math.abs(ms) < WINDOW_MS);
}

/** In milliseconds since the Unix epoch, by what was known of the service's clock then, else by what is known now. */
function serviceTime({ time, clockOffsetMs }: Doubt, offsetMs: number): number {
  return Date.parse(time) + (clockOffsetMs ?? offsetMs);
}

/** Creations around the time of others that may have made a run, by the journal. */
async function othersInDoubt(
  { journal }: Context,
  { service }: Connection,
  doubts: readonly Doubt[],
  offsetMs: number,
): Promise<Doubt[]> {
  const local = Math.min(...doubts.map(({ time }) => Date.parse(time))) - WINDOW_MS;
  const remote = Math.min(...doubts.map(doubt => serviceTime(doubt, offsetMs))) - WINDOW_MS;
  const isOlder = (entry: Doubt): boolean =>
    Date.parse(entry.time) < local && serviceTime(entry, offsetMs) < remote;
  const others: Doubt[] = [];
  for await (const entry of journal.newestFirst(isOlder)) {
    if (entry.baseUrl === service && mayHaveMadeRun(entry)) others.push(entry);
  }
  return others;
}
