import type { Connection, Context } from '../../context.ts';
import type { RunFacts } from '../../outputs/manifest.ts';
import type { JournalEntry } from '../../settings/journal/journal-lines.ts';

/** What this machine still knows of how a run was made; nothing where it was started elsewhere. */
export async function factsFromJournal(
  { journal }: Context,
  { service }: Connection,
  runId: string,
): Promise<RunFacts> {
  return factsOf(await journal.find(service, runId));
}

/** What an entry of the journal tells of its run. */
export function factsOf(entry: JournalEntry | undefined): RunFacts {
  if (entry === undefined) return {};
  return { promptVersionId: entry.promptVersionId, startedAt: Date.parse(entry.time) };
}
