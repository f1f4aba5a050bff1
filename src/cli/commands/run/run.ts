import type { Command } from 'commander';
import type { Connection, Context, Host } from '../../context.ts';
import { EXIT, type ExitCode } from '../../exit-codes.ts';
import { collect } from '../../inputs/flags.ts';
import { giveRun } from '../../outputs/give-run.ts';
import { printValue, wantsJson } from '../../outputs/json.ts';
import { declareOutputFlags, outputPlan } from '../../outputs/output-flags.ts';
import { presentRun } from '../../outputs/results.ts';
import { prepareRun } from './prepare.ts';
import type { RunFlags } from './run-argv.ts';
import { type Started, startRun } from './start.ts';

const EXAMPLES = `
Examples:
  promptrun run hello -i name=Ada
  promptrun run postcard -i place=Lisbon --save pictures
  promptrun run ./my.prompt --inputs inputs.yaml --image photo.jpg
  git diff | promptrun run 0b0c8f0e-4f0e-4c39-9b8e-7d0a2c7f1a55 -i diff=@- -o reasoningEffort=low

The target is an alias, a prompt file, the id of a prompt version or of a prompt, or a slug.
Values: key=value as it is, key=@file from a file, key=@- from standard input, key=@@x for a literal @x.`;

export function declareRun(command: Command, host: Host, run = runTarget): void {
  declareOutputFlags(
    command
      .argument('[target]', 'what to run; asked for on a terminal')
      .option('-i, --input <key=value>', 'a text input, repeatable', collect, [])
      .option('--inputs <file>', 'inputs from a JSON or YAML file, - for standard input')
      .option('--image <file|url>', 'an image input, repeatable, in order; - for standard input', collect, [])
      .option('-m, --model <model>', "another model than the prompt names; this machine's own service only")
      .option('-o, --option <key=value>', 'a run option, repeatable', collect, [])
      .option('--ask', 'ask for every input that is not given, optional ones too')
      .option('--no-validate', 'send run options that no model lists')
      .option('--no-stream', 'print text when it is whole, not while it is made')
      .option('--no-wait', 'print the run id instead of waiting for the run')
      .option('--dry-run', 'print what would be sent, and create nothing'),
  )
    .addHelpText('after', EXAMPLES)
    .action((target: string | undefined, flags: RunFlags) =>
      host.runAction(command, ctx => run(ctx, target, flags)),
    );
}

/** Creates a run of a target, waits for it and gives its outputs. */
export async function runTarget(
  ctx: Context,
  target: string | undefined,
  flags: RunFlags,
): Promise<ExitCode> {
  const planned = await outputPlan(ctx, flags);
  const prepared = await prepareRun(ctx, target, flags);
  if (flags.dryRun === true) {
    const { printDryRun } = await import('./dry-run.ts');
    return printDryRun(ctx, prepared);
  }
  const startedAt = ctx.clock.now();
  const started = await startRun(ctx, prepared, { wait: flags.wait, stream: mayStream(ctx, flags) });
  if (!flags.wait) return giveRunId(ctx, prepared.connection, started);
  if (started.kind === 'going') throw new Error('a run that was waited for still goes on');
  const { run, request, printed } = started;
  const facts = { request, startedAt, endedAt: ctx.clock.now() };
  return giveRun(ctx, run.runId, out =>
    presentRun(out, prepared.connection, run, { ...planned(facts), printed }),
  );
}

/** Text is printed while it is made where a person reads it; what is piped stays whole. */
function mayStream({ io, globals }: Context, { stream, wait, save }: RunFlags): boolean {
  const isText = !globals.json && globals.query === undefined && save !== '-';
  return stream && wait && isText && io.stdout.isTerminal;
}

/** Gives the id of a run that is not waited for, and nothing else, whether it has ended or not. */
async function giveRunId(ctx: Context, { embedded }: Connection, started: Started): Promise<ExitCode> {
  const { runId, runStatus } =
    started.kind === 'ended' ? started.run : { runId: started.runId, runStatus: 'running' };
  if (embedded && started.kind === 'going') {
    ctx.io.note('note: the embedded service ends with this command; the next one takes the run up again');
  }
  return giveRun(ctx, runId, async out => {
    if (wantsJson(out)) await printValue(out, { runId, runStatus });
    else await out.io.out(`${runId}\n`);
    return runStatus === 'failed' ? EXIT.runFailed : EXIT.ok;
  });
}
