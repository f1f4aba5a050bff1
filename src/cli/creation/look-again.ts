import type { Connection, Context } from '../context.ts';
import { openJournal } from '../settings/journal.ts';
import type { CreationInDoubt } from './in-doubt.ts';
import { lookForRun } from './lost-run.ts';

/** The run of a creation that was in doubt, now that no other can have made it any more; undefined where it stays so. */
export async function lookAgain(
  ctx: Context,
  connection: Connection,
  { journalId }: CreationInDoubt,
): Promise<string | undefined> {
  const journal = openJournal(ctx.stateDir, ctx.clock);
  const entry = (await journal.entries()).find(({ id }) => id === journalId);
  if (entry === undefined) return undefined;
  const { found } = await lookForRun(connection, journal, entry, ctx.signal);
  if (found === undefined) return undefined;
  await journal.outcome(entry.id, { outcome: 'created', runId: found.runId });
  return found.runId;
}
