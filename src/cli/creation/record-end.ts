import type { Run } from '../../wire/index.ts';
import type { Connection, Context } from '../context.ts';
import { openJournal } from '../settings/journal/journal.ts';

/** Writes the end of a run into the journal. Never a fault: the service knows it as well. */
export async function recordEnd(ctx: Context, journalId: string, run: Run): Promise<void> {
  const { runId, runStatus } = run;
  if (runStatus !== 'succeeded' && runStatus !== 'failed') return;
  const journal = openJournal(ctx.stateDir, ctx.clock);
  await journal.outcome(journalId, { outcome: 'ended', runId, runStatus }).catch(() => {});
}

/** The same for a run of which only the id is known; nothing where it was not started on this machine. */
export async function recordEndOfRun(ctx: Context, connection: Connection, run: Run): Promise<void> {
  const entries = await openJournal(ctx.stateDir, ctx.clock)
    .entries()
    .catch(() => []);
  const entry = entries.find(one => one.baseUrl === connection.service && one.runId === run.runId);
  if (entry !== undefined && entry.outcome !== 'ended') await recordEnd(ctx, entry.id, run);
}
