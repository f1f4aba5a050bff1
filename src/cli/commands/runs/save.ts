import { isOver } from '../../../client/poll.ts';
import type { Run } from '../../../wire/index.ts';
import type { Connection, Context } from '../../context.ts';
import { usageError } from '../../errors.ts';
import type { ExitCode } from '../../exit-codes.ts';
import { parseTime } from '../../inputs/time.ts';
import { type OutputFlags, outputPlan } from '../../outputs/output-flags.ts';
import { presentRun, presentRuns } from '../../outputs/results.ts';
import { oneLine } from '../../terminal/sanitise.ts';
import { askOfRun, factsFromJournal, namedRun } from './named-run.ts';

export interface RunsSaveFlags extends Pick<OutputFlags, 'force' | 'open' | 'preview'> {
  readonly last?: boolean;
  /** Saves every run created since then. */
  readonly since?: string;
  /** A directory, or `-` for standard output. */
  readonly to?: string;
}

/** Writes the outputs of runs to files, and gives them as `run` does. */
export async function runsSave(
  ctx: Context,
  names: readonly string[],
  flags: RunsSaveFlags,
): Promise<ExitCode> {
  const { last, since, to, ...given } = flags;
  if ([names.length > 0, last === true, since !== undefined].filter(Boolean).length !== 1) {
    throw usageError('give either runs, --last or --since <time>', 'See: promptrun runs save --help');
  }
  const sinceSeconds = since === undefined ? undefined : parseTime(since, '--since', ctx.clock.now(), 'down');
  const planned = await outputPlan(ctx, { ...given, save: to ?? true }, '--to');
  const connection = await ctx.connection();
  const ended =
    sinceSeconds === undefined
      ? await namedRuns(ctx, connection, names)
      : await runsSince(ctx, connection, sinceSeconds);
  const runs = [];
  for (const run of ended) {
    runs.push({ run, options: planned(await factsFromJournal(ctx, connection, run.runId)) });
  }
  const [only, ...others] = runs;
  if (sinceSeconds === undefined && only !== undefined && others.length === 0) {
    return presentRun(ctx, connection, only.run, only.options);
  }
  if (to === '-') throw usageError('--to - takes the output of one run', `These are ${runs.length} runs.`);
  return presentRuns(ctx, connection, runs);
}

async function namedRuns(ctx: Context, connection: Connection, names: readonly string[]): Promise<Run[]> {
  const ids = new Set<string>();
  for (const name of names.length === 0 ? [undefined] : names) ids.add(await namedRun(ctx, connection, name));
  const runs: Run[] = [];
  for (const id of ids) {
    const asking = connection.client.runs.get(id, { signal: ctx.signal });
    const run = await askOfRun(ctx, connection, { verb: 'save', runId: id }, asking);
    if (!isOver(run)) throw goesOn(connection, run);
    runs.push(run);
  }
  return runs;
}

function goesOn({ advise }: Connection, { runId, runStatus }: Run): Error {
  return usageError(
    `run ${runId} is ${oneLine(runStatus)}: there is nothing to save yet`,
    `Wait for it with: ${advise('runs', 'wait', runId, '--save')}`,
  );
}

/** Those that have ended, the newest first; the others are named. */
async function runsSince(ctx: Context, { client }: Connection, since: number): Promise<Run[]> {
  const { signal } = ctx;
  const runs: Run[] = [];
  for await (const { runId, runStatus } of client.runs.all({ since }, { signal })) {
    if (isOver({ runStatus })) runs.push(await client.runs.get(runId, { signal }));
    else ctx.io.note(`note: run ${runId} is ${runStatus} and is not saved`);
  }
  return runs;
}
