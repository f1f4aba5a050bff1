import type { Run } from '../../../wire/index.ts';
import type { Connection, Context } from '../../context.ts';
import { recordEnd, waitForKnownRun } from '../../creation/create-and-wait.ts';
import { lastRun } from '../../creation/last-run.ts';
import { usageError } from '../../errors.ts';
import type { ExitCode } from '../../exit-codes.ts';
import { resolveRun } from '../../inputs/run-name.ts';
import { type OutputFlags, outputPlan } from '../../outputs/output-flags.ts';
import { presentRun, presentRuns } from '../../outputs/results.ts';
import type { JournalEntry } from '../../settings/journal/journal-lines.ts';
import { startProgress } from '../../terminal/spinner.ts';
import { askOfRun, factsOf } from './named-run.ts';

export interface RunsWaitFlags extends OutputFlags {
  readonly last?: boolean;
}

/** A run to wait for, and what the journal knows of it. */
interface Awaited {
  readonly runId: string;
  readonly entry: JournalEntry | undefined;
  readonly recovered: boolean;
  /** A run of the journal has an id that the service gave; any other id is the user's word. */
  readonly idFromService: boolean;
}

/** Waits until runs have ended, then gives them as `run` does, in the order they were named. */
export async function runsWait(
  ctx: Context,
  names: readonly string[],
  flags: RunsWaitFlags,
): Promise<ExitCode> {
  if ((names.length === 0) === (flags.last !== true)) {
    throw usageError('give either run ids or --last', 'Runs are shown by: promptrun runs list');
  }
  if (names.length > 1 && flags.save === '-') {
    throw usageError('--save - takes the output of one run', `These are ${names.length} runs.`);
  }
  const planned = await outputPlan(ctx, flags);
  const connection = await ctx.connection();
  const awaited = await awaitedRuns(ctx, connection, names);
  const runs = await waitForAll(ctx, connection, awaited);
  const plans = runs.map((run, at) => ({ run, options: planned(factsOf(awaited[at]?.entry)) }));
  const [only, ...others] = plans;
  return only !== undefined && others.length === 0
    ? presentRun(ctx, connection, only.run, only.options)
    : presentRuns(ctx, connection, plans);
}

async function awaitedRuns(
  ctx: Context,
  connection: Connection,
  names: readonly string[],
): Promise<Awaited[]> {
  if (names.length === 0) return [{ ...(await lastRun(ctx, connection)), idFromService: true }];
  return Promise.all(
    names.map(async name => {
      const runId = await resolveRun(ctx, connection, name);
      const entry = await ctx.journal.find(connection.service, runId);
      return { runId, entry, recovered: entry?.recovered === true, idFromService: false };
    }),
  );
}

async function waitForAll(ctx: Context, connection: Connection, awaited: readonly Awaited[]): Promise<Run[]> {
  const progress = startProgress(ctx, { status: 'waiting for the run', polls: 0 });
  try {
    return await Promise.all(
      awaited.map(async ({ runId, entry, recovered, idFromService }) => {
        const waiting = waitForKnownRun(ctx, connection, runId, {
          idFromService,
          onProgress: state => progress.update(state),
        });
        const run = await askOfRun(ctx, connection, { verb: 'wait', runId }, waiting);
        if (entry !== undefined && entry.outcome !== 'ended') recordEnd(ctx, entry.id, run);
        return recovered ? { ...run, recovered } : run;
      }),
    );
  } finally {
    progress.stop();
  }
}
