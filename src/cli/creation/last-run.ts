import { ValidationError } from '../../client/errors.ts';
import type { Connection, Context } from '../context.ts';
import { notFoundError } from '../errors.ts';
import { type JournalEntry, mayHaveMadeRun } from '../settings/journal/journal-lines.ts';
import { searchRuns } from './find-run.ts';
import { CreationInDoubt } from './in-doubt.ts';

/** A run of the journal. */
export interface LastRun {
  readonly runId: string;
  readonly entry: JournalEntry;
  readonly recovered: boolean;
}

/**
 * The run of this service that was started last on this machine. One whose creation was never answered is asked for by its
 * key, else looked for.
 *
 * @throws {CliError} exit 4 if there is none, or the creation has not arrived
 * @throws {CreationInDoubt} if the creation was never answered, naming the runs that may be it
 */
export async function lastRun(ctx: Context, connection: Connection): Promise<LastRun> {
  const entry = await ctx.journal.last(connection.service);
  if (entry === undefined) {
    throw notFoundError(
      'no run of this service was started on this machine',
      `Runs started elsewhere are shown by: ${connection.advise('runs', 'list')}`,
    );
  }
  const { runId } = entry;
  if (runId !== undefined) return { runId, entry, recovered: entry.recovered === true };
  return (await runOfKey(ctx, connection, entry)) ?? lookFor(ctx, connection, entry);
}

/** How long a service keeps idempotency keys, in milliseconds. */
const KEY_LIFETIME_MS = 24 * 3_600_000;

/** Undefined if the service does not know of keys, or no longer of this one. */
async function runOfKey(
  ctx: Context,
  { client, advise }: Connection,
  entry: JournalEntry,
): Promise<LastRun | undefined> {
  const { id, time } = entry;
  if (client.keepsIdempotencyKeys === false) return undefined;
  const page = await client.runs
    .list({ idempotencyKey: id, limit: 1 }, { signal: ctx.signal })
    .catch((error: unknown) => {
      if (error instanceof ValidationError) return undefined;
      throw error;
    });
  if (page === undefined || client.keepsIdempotencyKeys !== true) return undefined;
  const { rows } = page;
  const row = rows.find(({ idempotencyKey }) => idempotencyKey === id);
  if (row !== undefined) {
    const { runId } = row;
    await ctx.journal.outcome(id, { outcome: 'created', runId });
    return { runId, entry: { ...entry, runId }, recovered: false };
  }
  if (rows.length > 0 || ctx.clock.now() - Date.parse(time) >= KEY_LIFETIME_MS) return undefined;
  throw notFoundError(
    `the creation of ${time} has not arrived at the service: there is no run of it`,
    `Runs are shown by: ${advise('runs', 'list')}`,
  );
}

async function lookFor(ctx: Context, connection: Connection, entry: JournalEntry): Promise<LastRun> {
  const [search] = await searchRuns(ctx, connection, [entry], { signal: ctx.signal });
  if (search?.run !== undefined) {
    const { runId } = search.run;
    await ctx.journal.outcome(entry.id, { outcome: 'created', runId, recovered: true });
    ctx.io.note(`note: going on with run ${runId}, which must be the one: nobody else uses the key`);
    return { runId, entry, recovered: true };
  }
  if (search?.madeNone === true && mayHaveMadeRun(entry)) {
    await ctx.journal.outcome(entry.id, { outcome: 'none' });
  }
  const cause = new Error(`the creation of ${entry.time} was never answered`);
  throw new CreationInDoubt(cause, search?.candidates, entry, connection);
}
