import { findLostRun } from '../../client/recover.ts';
import type { RunRow } from '../../wire/index.ts';
import type { Connection, Context } from '../context.ts';
import { codeOf } from '../core/error-utils.ts';
import { notFoundError } from '../errors.ts';
import { type Journal, openJournal } from '../settings/journal/journal.ts';
import { inDoubt, type JournalEntry } from '../settings/journal/journal-lines.ts';
import { CreationInDoubt } from './in-doubt.ts';

/** The runs a creation may have made whose answer was lost. */
export interface LostRun {
  /** The only one that fits, if nothing else can have made it. */
  readonly found: RunRow | undefined;
  readonly candidates: readonly RunRow[];
}

/** Looks once for the run of a journal's entry among the runs of the service that no entry knows. */
export async function findRunOf(
  connection: Connection,
  journal: Journal,
  entry: JournalEntry,
  signal: AbortSignal,
): Promise<LostRun> {
  const { found, candidates } = await findLostRun(connection.client, {
    promptVersionId: entry.promptVersionId,
    sentAt: Date.parse(entry.time),
    knownRunIds: await journal.runIds(connection.service),
    signal,
  });
  const mistakable = (await journal.entries()).some(other => mayHaveMadeIt(other, entry));
  return { found: mistakable ? undefined : found, candidates };
}

/** Whether another creation of the same version, whose run is not known either, was under way at the same time. */
function mayHaveMadeIt(other: JournalEntry, entry: JournalEntry): boolean {
  return (
    other.id !== entry.id &&
    other.baseUrl === entry.baseUrl &&
    other.promptVersionId === entry.promptVersionId &&
    inDoubt(other) &&
    (isUnderWay(other) || wasUnderWay(other, Date.parse(entry.time)))
  );
}

function isUnderWay({ outcome, pid }: JournalEntry): boolean {
  return outcome === undefined && pid !== undefined && isAlive(pid);
}

function wasUnderWay({ noted }: JournalEntry, moment: number): boolean {
  return noted !== undefined && Date.parse(noted) > moment;
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return codeOf(error) === 'EPERM';
  }
}

/** The run of a creation that was in doubt, now that no other can have made it any more; undefined where it stays so. */
export async function recoverRun(
  ctx: Context,
  connection: Connection,
  { journalId }: CreationInDoubt,
): Promise<string | undefined> {
  const journal = openJournal(ctx.stateDir, ctx.clock);
  const entry = (await journal.entries()).find(({ id }) => id === journalId);
  if (entry === undefined) return undefined;
  const { found } = await findRunOf(connection, journal, entry, ctx.signal);
  if (found === undefined) return undefined;
  await journal.outcome(entry.id, { outcome: 'created', runId: found.runId });
  return found.runId;
}

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
  const { found, candidates } = await findRunOf(connection, journal, entry, ctx.signal);
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
