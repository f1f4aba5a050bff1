import type { Command } from 'commander';
import { isOver } from '../../../client/poll.ts';
import type { Context, Host } from '../../context.ts';
import { EXIT, type ExitCode } from '../../exit-codes.ts';
import { printValue, wantsJson } from '../../outputs/json.ts';
import { declareOutputFlags, type OutputFlags, outputPlan } from '../../outputs/output-flags.ts';
import { presentRun } from '../../outputs/results.ts';
import { oneLine } from '../../terminal/sanitise.ts';
import { checkRunNamed, factsFromJournal, namedRun, RUN_NAMES } from './named-run.ts';

const EXAMPLES = `
Examples:
  promptrun runs get 5f0c8f0e-4f0e-4c39-9b8e-7d0a2c7f1a55
  promptrun runs get 5f0c8f --query runStatus
  promptrun runs get --last --save pictures

${RUN_NAMES}`;

export interface RunsGetFlags extends OutputFlags {
  readonly last?: boolean;
}

export function declareRunsGet(command: Command, host: Host, run = runsGet): void {
  declareOutputFlags(
    command.argument('[run]', 'which run').option('--last', 'the run started last on this machine'),
  )
    .addHelpText('after', EXAMPLES)
    .action((name: string | undefined, flags: RunsGetFlags) =>
      host.runAction(command, ctx => run(ctx, name, flags)),
    );
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
  const run = await connection.client.runs.get(runId, { signal: ctx.signal });
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
