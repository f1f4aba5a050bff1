import { NotFoundError } from '../../../client/errors.ts';
import type { Connection, Context } from '../../context.ts';
import { lastRun } from '../../creation/last-run.ts';
import { notFoundError, usageError } from '../../errors.ts';
import { resolveRun } from '../../inputs/run-name.ts';
import type { RunFacts } from '../../outputs/manifest.ts';
import { LOCAL_PROFILE } from '../../settings/config/names.ts';
import type { JournalEntry } from '../../settings/journal/journal-lines.ts';
import { adviseWith } from '../../terminal/advise.ts';

/** Refuses a command line that names no run, or one run twice. */
export function checkRunNamed(name: string | undefined, { last }: { readonly last?: boolean }): void {
  if ((name === undefined) !== (last === true)) {
    throw usageError('give either a run id or --last', 'Runs are shown by: promptrun runs list');
  }
}

/** The id of the run of that name; without a name, of the run started last on this machine. */
export async function namedRun(
  ctx: Context,
  connection: Connection,
  name: string | undefined,
): Promise<string> {
  return name === undefined ? (await lastRun(ctx, connection)).runId : resolveRun(ctx, connection, name);
}

/**
 * What the service says of a run.
 *
 * @throws {CliError} exit 4 for a run that was started at another service, naming the command that asks there
 */
export async function askOfRun<T>(
  ctx: Context,
  { service }: Connection,
  { verb, runId }: { readonly verb: string; readonly runId: string },
  asking: Promise<T>,
): Promise<T> {
  try {
    return await asking;
  } catch (error) {
    if (!(error instanceof NotFoundError)) throw error;
    for await (const { runId: started, baseUrl } of ctx.journal.newestFirst()) {
      if (started !== runId || baseUrl === service) continue;
      const there = baseUrl === 'local' ? { profile: LOCAL_PROFILE } : { baseUrl };
      const command = adviseWith(there)('runs', verb, runId);
      throw notFoundError(
        `${error.message}; it was started at another service`,
        `Ask there with: ${command}`,
      );
    }
    throw error;
  }
}

/** What this machine still knows of how a run was made; nothing where it was started elsewhere. */
export async function factsFromJournal(
  { journal }: Context,
  { service }: Connection,
  runId: string,
): Promise<RunFacts> {
  return factsOf(await journal.find(service, runId));
}

/** What an entry of the journal says of its run. */
export function factsOf(entry: JournalEntry | undefined): RunFacts {
  if (entry === undefined) return {};
  return { promptVersionId: entry.promptVersionId, startedAt: Date.parse(entry.time) };
}
