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
 * The run of this service that was started last on this machine. One whose creation was never answered is looked for.
 *
 * @throws {CliError} exit 4 where there is none
 * @throws {CreationInDoubt} where the creation was never answered, naming the runs that may be it
 */
export async function lastRun(ctx: Context, connection: Connection): Promise<LastRun> {
  const entry = await ctx.journal.last(connection.service);
  if (entry === undefined) {
    throw notFoundError(
      'no run of this service was started on this machine',
      'Runs started elsewhere are shown by: promptrun runs list',
    );
  }
  const { runId } = entry;
  return runId === undefined
    ? lookFor(ctx, connection, entry)
    : { runId, entry, recovered: entry.recovered === true };
}

async function lookFor(ctx: Context, connection: Connection, entry: JournalEntry): Promise<LastRun> {
  const [found] = await searchRuns(ctx, connection, [entry], { signal: ctx.signal });
  if (found?.run !== undefined) {
    const { runId } = found.run;
    await ctx.journal.outcome(entry.id, { outcome: 'created', runId, recovered: true });
    ctx.io.note(`note: going on with run ${runId}, which must be the one: nobody else uses the key`);
    return { runId, entry, recovered: true };
  }
  if (found?.madeNone === true && mayHaveMadeRun(entry)) {
    await ctx.journal.outcome(entry.id, { outcome: 'none' });
  }
  throw new CreationInDoubt(
    new Error(`the creation of ${entry.time} was never answered`),
    found?.candidates ?? [],
    entry,
  );
}
