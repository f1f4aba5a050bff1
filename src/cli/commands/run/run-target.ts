import type { Connection, Context } from '../../context.ts';
import { EXIT, type ExitCode } from '../../exit-codes.ts';
import { giveRun } from '../../outputs/give-run.ts';
import { printValue, wantsJson } from '../../outputs/json.ts';
import { outputPlan } from '../../outputs/output-flags.ts';
import { presentRun } from '../../outputs/results.ts';
import { prepareRun } from './prepare.ts';
import type { RunFlags } from './run-argv.ts';
import { type Started, startRun } from './start.ts';

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
