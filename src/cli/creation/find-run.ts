import { findLostRuns, type LostCreation } from '../../client/recover.ts';
import type { RunRow } from '../../wire/index.ts';
import type { Connection, Context } from '../context.ts';
import { configError } from '../errors.ts';
import { SETTINGS } from '../settings/config/setting-keys.ts';
import { type JournalEntry, mayHaveMadeRun } from '../settings/journal/journal-lines.ts';

/** A run that was created later than this after its request was sent is another's. */
export const WINDOW_MS = 600_000;
/** Entries in a row that are older than what is looked for, after which no newer one is expected. */
const ENOUGH_OLDER = 200;

/** What is known of a creation in doubt: all that is needed to look for its run. */
export type Doubt = Pick<JournalEntry, 'id' | 'time' | 'promptVersionId' | 'clockOffsetMs'>;

/** What the service's list and the journal tell of a creation in doubt. */
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
  const kept = await journalSince(ctx, connection, doubts, offsetMs);
  const known = new Set([...(options.knownRunIds ?? []), ...kept.runIds]);
  const others = [...kept.doubts, ...(options.otherDoubts ?? [])];
  const exclusive = isKeyExclusive(ctx);
  return Promise.all(
    doubts.map(async (doubt, at) => {
      const { candidates: rows, complete } = listed[at] ?? { candidates: [], complete: false };
      const candidates = rows.filter(({ runId }) => !known.has(runId));
      const [only] = candidates;
      const isMistakable =
        !exclusive ||
        !complete ||
        candidates.length !== 1 ||
        others.some(other => overlaps(other, doubt, offsetMs));
      const run = isMistakable || only === undefined ? undefined : await unknownRun(ctx, connection, only);
      const age = ctx.clock.now() + offsetMs - serviceTime(doubt, offsetMs);
      const madeNone = complete && candidates.length === 0 && age > WINDOW_MS;
      return { run, candidates, madeNone };
    }),
  );
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

/** However old its entry is: a run in the journal is another creation's. */
async function unknownRun(
  { journal }: Context,
  { service }: Connection,
  row: RunRow,
): Promise<RunRow | undefined> {
  return (await journal.find(service, row.runId)) === undefined ? row : undefined;
}

/** What the journal holds of the time around creations: runs that are known, and creations that may have made one. */
async function journalSince(
  { journal }: Context,
  { service }: Connection,
  doubts: readonly Doubt[],
  offsetMs: number,
): Promise<{ runIds: Set<string>; doubts: Doubt[] }> {
  const local = Math.min(...doubts.map(({ time }) => Date.parse(time))) - WINDOW_MS;
  const remote = Math.min(...doubts.map(doubt => serviceTime(doubt, offsetMs))) - WINDOW_MS;
  const found = { runIds: new Set<string>(), doubts: [] as Doubt[] };
  let older = 0;
  for await (const entry of journal.newestFirst()) {
    const isOlder = Date.parse(entry.time) < local && serviceTime(entry, offsetMs) < remote;
    older = isOlder ? older + 1 : 0;
    if (older === ENOUGH_OLDER) break;
    if (entry.baseUrl !== service) continue;
    if (entry.runId !== undefined) found.runIds.add(entry.runId);
    else if (mayHaveMadeRun(entry)) found.doubts.push(entry);
  }
  return found;
}

/** Writes into the journal that a run was taken from the list for a creation. Never a fault. */
export function recordRecovered({ journal }: Context, { id }: Doubt, runId: string): void {
  journal.outcome(id, { outcome: 'created', runId, recovered: true }).catch(() => {});
}

/** Writes into the journal that a creation is known to have made no run. Never a fault. */
export function recordNoRun({ journal }: Context, { id }: Doubt): void {
  journal.outcome(id, { outcome: 'none' }).catch(() => {});
}
