import { ValidationError } from '../../../client/errors.ts';
import { messageOf } from '../../../files/error-utils.ts';
import type { Connection, Context } from '../../context.ts';
import type { Budget } from '../../creation/budget.ts';
import { CliError } from '../../errors.ts';
import { EXIT, type ExitCode } from '../../exit-codes.ts';
import { printValue, wantsJson } from '../../outputs/json.ts';
import { outputPlan } from '../../outputs/output-flags.ts';
import { presentRun } from '../../outputs/results.ts';
import { oneLine } from '../../terminal/sanitise.ts';
import { type PreparedRun, prepareRun } from './prepare.ts';
import type { RunFlags } from './run-argv.ts';
import { type Started, startRun } from './start.ts';

/** Creates a run of a target, waits for it and gives its outputs. */
export async function runTarget(
  ctx: Context,
  target: string | undefined,
  flags: RunFlags,
): Promise<ExitCode> {
  if (flags.dryRun === true) ctx.io.commentNotes();
  const budget = await budgetOfRun(ctx, flags);
  const planned = await outputPlan(ctx, flags);
  const prepared = await prepareRun(ctx, target, flags);
  if (flags.dryRun === true) {
    const { printDryRun } = await import('./dry-run.ts');
    return printDryRun(ctx, prepared, flags);
  }
  if (!flags.wait) prepared.connection.runsHere?.detach();
  budget?.check(prepared.connection);
  const startedAt = ctx.clock.now();
  const started = await startRun(ctx, prepared, {
    wait: flags.wait,
    stream: mayStream(ctx, flags),
    budget,
  }).catch(async (error: unknown) => {
    throw await withWayToInputs(error, prepared, target);
  });
  if (!flags.wait) return giveRunId(ctx, prepared.connection, started);
  if (started.kind === 'going') throw new Error('a run that was waited for still goes on');
  const { run, request, printed } = started;
  const facts = { request, startedAt, endedAt: ctx.clock.now() };
  return giveRun(ctx, prepared.connection, run.runId, out =>
    presentRun(out, prepared.connection, run, { ...planned(facts), printed }),
  );
}

/** What the service has refused, with where to see what the target takes, unless its model can't be asked. */
async function withWayToInputs(
  error: unknown,
  { connection, request }: PreparedRun,
  target: string | undefined,
): Promise<unknown> {
  if (!(error instanceof ValidationError) || target === undefined) return error;
  if (await connection.costs?.accessFault(request.promptVersionId)) return error;
  const { advise } = connection;
  const { failureOf } = await import('../../core/failure.ts');
  const { message, ...failure } = failureOf(error);
  const hints = [`What it takes: ${advise('prompts', 'get', target)}`];
  return new CliError(message, { ...failure, hints, cause: error });
}

/** Most runs have no cap: nothing is counted then. */
async function budgetOfRun(ctx: Context, flags: RunFlags): Promise<Budget | undefined> {
  if (flags.maxCost === undefined && flags.maxCredits === undefined) return undefined;
  const [{ Budget }, { parseCaps }] = await Promise.all([
    import('../../creation/budget.ts'),
    import('../../creation/caps.ts'),
  ]);
  return new Budget(ctx, parseCaps(flags));
}

/** Text is printed while it is made where a person reads it; what is piped stays whole. */
function mayStream({ io, globals }: Context, { stream, wait, save }: RunFlags): boolean {
  const isText = !globals.json && globals.query === undefined && save !== '-';
  return stream && wait && isText && io.stdout.isTerminal;
}

/** Gives the id of a run that is not waited for, and nothing else, whether it has ended or not. */
async function giveRunId(ctx: Context, connection: Connection, started: Started): Promise<ExitCode> {
  const { runId, runStatus } =
    started.kind === 'ended' ? started.run : { runId: started.runId, runStatus: 'running' };
  return giveRun(ctx, connection, runId, async out => {
    if (wantsJson(out)) await printValue(out, { runId, runStatus });
    else await out.io.out(`${out.io.stdout.isTerminal ? oneLine(runId) : runId}\n`);
    return runStatus === 'failed' ? EXIT.runFailed : EXIT.ok;
  });
}

/**
 * Gives the result of a run that this command made and paid for. A reader that has had enough, such as `head`, is none
 * of its concern.
 *
 * @param give prints it, to the context that it is handed
 * @throws {CliError} exit 1, naming the run, where standard output took nothing of it, or is full
 */
async function giveRun(
  ctx: Context,
  connection: Connection,
  runId: string,
  give: (ctx: Context) => Promise<ExitCode>,
): Promise<ExitCode> {
  let wasTaken: boolean | undefined;
  const out: Context['io']['out'] = async data => {
    try {
      const taken = await ctx.io.out(data);
      if (data.length > 0) wasTaken ??= taken;
      return taken;
    } catch (error) {
      throw notTaken(connection, runId, messageOf(error));
    }
  };
  const exitCode = await give({ ...ctx, io: { ...ctx.io, out } });
  if (wasTaken === false) {
    throw notTaken(connection, runId, 'standard output was closed before anything was written');
  }
  return exitCode;
}

function notTaken({ advise }: Connection, runId: string, reason: string): CliError {
  return new CliError(`the result of run ${runId} was not given: ${reason}`, {
    status: 'FILE_ERROR',
    exitCode: EXIT.fault,
    hints: [`Get it with: ${advise('runs', 'get', runId)}`],
    data: { runId },
  });
}
