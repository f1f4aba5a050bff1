import type { Connection, Context } from '../context.ts';
import { notFoundError } from '../errors.ts';
import { type Journal, openJournal } from '../settings/journal.ts';
import type { JournalEntry } from '../settings/journal-lines.ts';
import { CreationInDoubt } from './in-doubt.ts';
import { lookForRun } from './lost-run.ts';

/**
 * The id of the run of this service that was started last on this machine. One whose creation was never answered is
 * looked for.
 *
 * @throws {CliError} exit 4 where there is none
 * @throws {CreationInDoubt} where several runs may be it
 */
export async function lastRun(ctx: Context, connection: Connection): Promise<string> {
  const journal = openJournal(ctx.stateDir, ctx.clock);
  const entry = await journal.last(connection.service);
  if (entry === undefined) {
    throw notFoundError(
      'no run of this service was started on this machine',
      'Runs started elsewhere are shown by: promptrun runs list',
    );
  }
  return entry.runId ?? lookFor(ctx, connection, journal, entry);
}

async function lookFor(
  ctx: Context,
  connection: Connection,
  journal: Journal,
  entry: JournalEntry,
): Promise<string> {
  const { found, candidates } = await lookForRun(connection, journal, entry, ctx.signal);
  if (found !== undefined) {
    await journal.outcome(entry.id, { outcome: 'created', runId: found.runId });
    return found.runId;
  }
  if (candidates.length > 0) {
    throw new CreationInDoubt(new Error(`the creation of ${entry.time} was never answered`), candidates);
  }
  throw notFoundError(
    `the creation of ${entry.time} was never answered, and the service has no run that fits`,
    'It may not have been started at all. Look with: promptrun runs list',
  );
}
