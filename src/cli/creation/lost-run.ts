import { findLostRun } from '../../client/recover.ts';
import type { RunRow } from '../../wire/index.ts';
import type { Connection } from '../context.ts';
import type { Journal } from '../settings/journal.ts';
import { inDoubt, type JournalEntry } from '../settings/journal-lines.ts';
import { codeOf } from '../thrown.ts';

/** The runs a creation may have made whose answer was lost. */
export interface LostRun {
  /** The only one that fits, if nothing else can have made it. */
  readonly found: RunRow | undefined;
  readonly candidates: readonly RunRow[];
}

/** Looks once for the run of a journal's entry among the runs of the service that no entry knows. */
export async function lookForRun(
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
