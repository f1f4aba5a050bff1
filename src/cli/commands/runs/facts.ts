import type { Connection, Context } from '../../context.ts';
import type { RunFacts } from '../../outputs/manifest.ts';
import { openJournal } from '../../settings/journal/journal.ts';

/** What this machine still knows of how a run was made; nothing where it was started elsewhere. */
export async function factsFromJournal(
  ctx: Context,
  connection: Connection,
  runId: string,
): Promise<RunFacts> {
  const entries = await openJournal(ctx.stateDir, ctx.clock).entries();
  const entry = entries.find(one => one.runId === runId && one.baseUrl === connection.service);
  if (entry === undefined) return {};
  return { promptVersionId: entry.promptVersionId, startedAt: Date.parse(entry.time) };
}
