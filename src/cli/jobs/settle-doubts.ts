import type { RunRow } from '../../wire/index.ts';
import type { Connection, Context } from '../context.ts';
import { CreationInDoubtError } from '../creation/in-doubt.ts';
import {
  type SearchOptions,
  type SearchResult,
  searchRuns,
  type UnansweredCreation,
} from '../creation/search-runs.ts';
import type { InDoubt, JobJournal, JobName } from './job.ts';

const HOUR_MS = 3_600_000;

/**
 * Maximum age of an idempotency key to rely on, in milliseconds: an hour less than services keep
 * keys.
 */
const TRUSTED_KEY_AGE_MS = 23 * HOUR_MS;

/** The way to settle a creation in doubt. */
export type Settlement =
  /** Send it again under its key. */
  | { readonly kind: 'repeat' }
  /** Wait for its run, found in the list. */
  | { readonly kind: 'wait'; readonly runId: string }
  /** Settle it as a creation that made no run. */
  | { readonly kind: 'none' }
  /** Leave it in doubt. The candidates are undefined if the list could not be read. */
  | { readonly kind: 'in doubt'; readonly candidates: readonly RunRow[] | undefined };

/** Returns true if a service that keeps idempotency keys still has the key of a creation. */
export function isKeyKept(
  { clock }: Pick<Context, 'clock'>,
  { time }: Pick<UnansweredCreation, 'time'>,
): boolean {
  return clock.now() - Date.parse(time) < TRUSTED_KEY_AGE_MS;
}

/**
 * Settles as many creations in doubt as possible. If the service keeps idempotency keys, they can
 * be sent again; otherwise one pass over the list of runs decides. If the list can't be read, they
 * stay in doubt.
 */
export async function settleDoubts<D extends UnansweredCreation>(
  ctx: Context,
  connection: Connection,
  doubts: readonly D[],
  options: SearchOptions,
): Promise<(readonly [D, Settlement])[]> {
  if (doubts.length === 0) return [];

  const { client } = connection;
  const isRepeatable = (doubt: UnansweredCreation): boolean =>
    client.keepsIdempotencyKeys === true && isKeyKept(ctx, doubt);
  const doubtsToSearch = doubts.filter(doubt => !isRepeatable(doubt));
  const searches = await searchRuns(ctx, connection, doubtsToSearch, options).catch(() => []);
  const settlements = new Map(
    doubtsToSearch.map((doubt, index) => [doubt, toSettlement(searches[index])]),
  );

  // The answer to the list request may have shown that the service keeps keys.
  return doubts.map(doubt => [
    doubt,
    isRepeatable(doubt) ? { kind: 'repeat' } : (settlements.get(doubt) ?? toSettlement(undefined)),
  ]);
}

function toSettlement(search: SearchResult | undefined): Settlement {
  // The list could not be read.
  if (search === undefined) return { kind: 'in doubt', candidates: undefined };

  const { run, candidates, madeNoRun } = search;
  if (run !== undefined) return { kind: 'wait', runId: run.runId };
  return madeNoRun ? { kind: 'none' } : { kind: 'in doubt', candidates };
}

/** Returns the doubt with the runs that match and an error that names them. */
export function withCandidates(
  doubt: InDoubt,
  candidates: readonly RunRow[] | undefined,
  connection: Connection,
): InDoubt {
  const { error, entry } = doubt;
  const cause = error instanceof CreationInDoubtError ? error.cause : error;
  const errorWithRuns = new CreationInDoubtError(cause, candidates, entry, connection);
  return { ...doubt, candidates: errorWithRuns.candidates, error: errorWithRuns };
}

/** Writes a settlement to the journals. Ignores a failed write to the machine's journal. */
export async function recordSettlement(
  ctx: Context,
  journal: Pick<JobJournal, 'recordRun'>,
  { job, creation }: { readonly job: JobName; readonly creation: UnansweredCreation },
  settlement: Settlement,
): Promise<void> {
  if (settlement.kind === 'wait') {
    const { runId } = settlement;
    ctx.io.note(`note: row ${job.row} continues with run ${runId}`);
    ctx.journal
      .recordOutcome(creation.id, { outcome: 'created', runId, recovered: true })
      .catch(() => {});
    await journal.recordRun(job, { runId, recovered: true });
  } else if (settlement.kind === 'none') {
    ctx.journal.recordOutcome(creation.id, { outcome: 'none' }).catch(() => {});
  }
}
