import type { Command } from 'commander';
import type { Run } from '../../../wire/index.ts';
import type { Connection, Context, Host } from '../../context.ts';
import { startDeadline } from '../../creation/deadline.ts';
import { recordEndOfRun } from '../../creation/record-end.ts';
import { lastRun } from '../../creation/recover-run.ts';
import { waitToTheEnd } from '../../creation/wait.ts';
import { usageError } from '../../errors.ts';
import type { ExitCode } from '../../exit-codes.ts';
import { type OutputFlags, outputPlan, presentRun } from '../../outputs/results.ts';
import { startProgress } from '../../terminal/spinner.ts';
import { factsFromJournal } from './facts.ts';

export interface RunsWaitFlags extends OutputFlags {
  readonly last?: boolean;
}

const EXAMPLES = `
Examples:
  promptrun runs wait 5f0c8f0e-4f0e-4c39-9b8e-7d0a2c7f1a55
  promptrun runs wait --last --timeout 10m
  promptrun runs wait --last --save pictures`;

export function declareRunsWait(command: Command, host: Host, run = runsWait): void {
  command
    .argument('[runId]', 'which run')
    .option('--last', 'the run started last on this machine')
    .option('--save [dir]', 'write the outputs to files as well')
    .option('--force', 'overwrite files that exist')
    .option('--no-preview', 'no small previews of images')
    .option('--schema <file>', 'a JSON Schema the text output must match as JSON; exit 5 where it does not')
    .addHelpText('after', EXAMPLES)
    .action((runId: string | undefined, flags: RunsWaitFlags) =>
      host.runAction(command, ctx => run(ctx, runId, flags)),
    );
}

/** Waits until a run has ended, then gives it as `run` does. */
export async function runsWait(
  ctx: Context,
  runId: string | undefined,
  flags: RunsWaitFlags,
): Promise<ExitCode> {
  if ((runId === undefined) === (flags.last !== true)) {
    throw usageError('give either a run id or --last', 'See: promptrun runs wait --help');
  }
  const planned = await outputPlan(ctx, flags);
  const connection = await ctx.connection();
  const run = await wait(ctx, connection, runId ?? (await lastRun(ctx, connection)));
  await recordEndOfRun(ctx, connection, run);
  return presentRun(ctx, connection, run, planned(await factsFromJournal(ctx, connection, run.runId)));
}

async function wait(ctx: Context, connection: Connection, runId: string): Promise<Run> {
  const deadline = startDeadline(ctx.clock, ctx.globals.timeoutMs, ctx.signal);
  const progress = startProgress(ctx, { status: 'waiting for the run', polls: 0 });
  try {
    return await waitToTheEnd(connection, runId, deadline, {
      fresh: false,
      onProgress: state => progress.update(state),
    });
  } finally {
    progress.stop();
    deadline.stop();
  }
}
