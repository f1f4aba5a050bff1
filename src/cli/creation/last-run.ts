import { ValidationError } from '../../client/errors.ts';
import type { Connection, Context } from '../context.ts';
import { notFoundError } from '../core/errors.ts';
import { type JournalEntry, mayHaveMadeRun } from '../settings/journal/journal-lines.ts';
import { CreationInDoubtError } from './in-doubt.ts';
import { searchRuns } from './search-runs.ts';

/** The time for which a service keeps idempotency keys, in milliseconds. */
const IDEMPOTENCY_KEY_LIFETIME_MS = 24 * 3_600_000;

/** The newest run of this machine at a service, with the journal entry of its creation. */
export interface LastRun {
  readonly runId: string;
  readonly entry: JournalEntry;
  readonly recovered: boolean;
}

/**
 * Returns the run of this service that was started last on this machine. If its creation was never
 * answered, asks for the run by its idempotency key or searches the list of runs.
 *
 * @throws {CliError} exit 4 if this machine started no run there, or the creation did not reach the
 * service
 * @throws {CreationInDoubtError} if the creation was never answered; names the runs that match
 */
export async function requireLastRun(ctx: Context, connection: Connection): Promise<LastRun> {
  const entry = await ctx.journal.findLast(connection.serviceName);
  if (entry === undefined) {
    throw notFoundError(
      'no run of this service was started on this machine',
      `List the runs started elsewhere with: ${connection.formatCommand('runs', 'list')}`,
    );
  }

  const { runId } = entry;
  if (runId !== undefined) return { runId, entry, recovered: entry.recovered === true };
  return (await findRunByKey(ctx, connection, entry)) ?? requireListedRun(ctx, connection, entry);
}

/**
 * Finds a run by its idempotency key; undefined if the service keeps no keys, or no longer keeps
 * this one.
 *
 * @throws {CliError} exit 4 if the service still keeps its keys of that time, but not this one
 */
async function findRunByKey(
  ctx: Context,
  { client, formatCommand }: Connection,
  entry: JournalEntry,
): Promise<LastRun | undefined> {
  const { id, time } = entry;
  if (client.keepsIdempotencyKeys === false) return undefined;

  const page = await client.runs
    .list({ idempotencyKey: id, limit: 1 }, { signal: ctx.signal })
    .catch((error: unknown) => {
      // The service does not know the filter.
      if (error instanceof ValidationError) return undefined;
      throw error;
    });
  // The client may have learnt it only from this answer.
  if (page === undefined || client.keepsIdempotencyKeys !== true) return undefined;

  const { rows } = page;
  const row = rows.find(({ idempotencyKey }) => idempotencyKey === id);
  if (row !== undefined) {
    const { runId } = row;
    await ctx.journal.recordOutcome(id, { outcome: 'created', runId });
    return { runId, entry: { ...entry, runId }, recovered: false };
  }

  const ageMs = ctx.clock.now() - Date.parse(time);
  // Rows of other creations show that the service ignores the filter.
  if (rows.length > 0 || ageMs >= IDEMPOTENCY_KEY_LIFETIME_MS) return undefined;

  throw notFoundError(
    `the creation of ${time} did not reach the service, so it made no run`,
    `List your runs with: ${formatCommand('runs', 'list')}`,
  );
}

async function requireListedRun(
  ctx: Context,
  connection: Connection,
  entry: JournalEntry,
): Promise<LastRun> {
  const [search] = await searchRuns(ctx, connection, [entry], { signal: ctx.signal });
  if (search?.run !== undefined) {
    const { runId } = search.run;
    await ctx.journal.recordOutcome(entry.id, { outcome: 'created', runId, recovered: true });
    ctx.io.note(`note: continuing with run ${runId}, the only match: nobody else uses the key`);
    return { runId, entry, recovered: true };
  }

  if (search?.madeNoRun === true && mayHaveMadeRun(entry)) {
    await ctx.journal.recordOutcome(entry.id, { outcome: 'none' });
  }

  const cause = new Error(`the creation of ${entry.time} was never answered`);
  throw new CreationInDoubtError(cause, search?.candidates, entry, connection);
}
