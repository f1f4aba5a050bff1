import { isOver } from '../../../client/poll.ts';
import type { Context } from '../../context.ts';
import { EXIT, type ExitCode } from '../../exit-codes.ts';
import { printValue, wantsJson } from '../../outputs/json.ts';
import { type OutputFlags, outputPlan } from '../../outputs/output-flags.ts';
import { presentRun } from '../../outputs/results.ts';
import { oneLine } from '../../terminal/sanitise.ts';
import { askOfRun, checkRunNamed, factsFromJournal, namedRun } from './named-run.ts';

export interface RunsGetFlags extends OutputFlags {
  readonly last?: boolean;
}

/** Gives one run as it stands: its outputs, or that it still goes on. */
export async function runsGet(
  ctx: Context,
  name: string | undefined,
  flags: RunsGetFlags,
): Promise<ExitCode> {
  checkRunNamed(name, flags);
  const planned = await outputPlan(ctx, flags);
  const connection = await ctx.connection();
  const runId = await namedRun(ctx, connection, name);
  const asking = connection.client.runs.get(runId, { signal: ctx.signal });
  const run = await askOfRun(ctx, connection, { verb: 'get', runId }, asking);
  if (isOver(run)) {
    const facts = flags.save === undefined ? {} : await factsFromJournal(ctx, connection, run.runId);
    return presentRun(ctx, connection, run, planned(facts));
  }
  if (wantsJson(ctx)) await printValue(ctx, run);
  else {
    ctx.io.note(
      `note: run ${oneLine(run.runId)} is ${oneLine(run.runStatus)}; wait for it with: ${connection.advise('runs', 'wait', run.runId)}`,
    );
  }
  return EXIT.ok;
}
