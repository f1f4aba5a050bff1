import type { Command } from 'commander';
import { isOver } from '../../../client/poll.ts';
import type { Context, Host } from '../../context.ts';
import { usageError } from '../../errors.ts';
import type { ExitCode } from '../../exit-codes.ts';
import { type OutputFlags, outputPlan, presentRun } from '../../outputs/results.ts';
import { oneLine } from '../../terminal/sanitise.ts';
import { factsFromJournal } from './facts.ts';

export type RunsSaveFlags = Pick<OutputFlags, 'force' | 'preview'>;

const EXAMPLES = `
Examples:
  promptrun runs save 5f0c8f0e-4f0e-4c39-9b8e-7d0a2c7f1a55
  promptrun runs save 5f0c8f0e-4f0e-4c39-9b8e-7d0a2c7f1a55 pictures --force

URLs of generated media live 24 hours.`;

export function declareRunsSave(command: Command, host: Host, run = runsSave): void {
  command
    .argument('<runId>', 'which run')
    .argument('[dir]', 'where to; the current directory, or the setting saveDir')
    .option('--force', 'overwrite files that exist')
    .option('--no-preview', 'no small previews of images')
    .addHelpText('after', EXAMPLES)
    .action((runId: string, directory: string | undefined, flags: RunsSaveFlags) =>
      host.runAction(command, ctx => run(ctx, runId, directory, flags)),
    );
}

/** Writes the outputs of a run to files, and gives them as `run` does. */
export async function runsSave(
  ctx: Context,
  runId: string,
  directory: string | undefined,
  flags: RunsSaveFlags,
): Promise<ExitCode> {
  const planned = await outputPlan(ctx, { ...flags, save: directory ?? true });
  const connection = await ctx.connection();
  const run = await connection.client.runs.get(runId, { signal: ctx.signal });
  if (!isOver(run)) {
    throw usageError(
      `run ${runId} is ${oneLine(run.runStatus)}: there is nothing to save yet`,
      `Wait for it with: promptrun runs wait ${runId} --save`,
    );
  }
  return presentRun(ctx, connection, run, planned(await factsFromJournal(ctx, connection, run.runId)));
}
