import { ValidationError } from '../../../client/errors.ts';
import type { Run } from '../../../wire/index.ts';
import type { Connection, Context } from '../../context.ts';
import type { FlagsOf } from '../../core/command-spec.ts';
import { CliError, usageError } from '../../core/errors.ts';
import type { ExitCode } from '../../core/exit-codes.ts';
import { toFailure } from '../../core/failure.ts';
import { createAndWait } from '../../creation/create-and-wait.ts';
import { Budget } from '../../creation/spending/budget.ts';
import { parseCaps } from '../../creation/spending/caps.ts';
import { buildRunBody, type RunRequest } from '../../inputs/request-body.ts';
import { createOutputPlan, presentRun, printResult } from '../../outputs/present-run.ts';
import { requireLocalService } from '../../settings/config/address.ts';
import { startProgress } from '../../terminal/spinner.ts';
import { buildChangedRequest } from './changed-request.ts';
import { askOfRun, requireRunsOrLast, resolveNamedRun } from './named-run.ts';
import { readRequestFromManifest, readRequestFromService } from './request-of-run.ts';
import type { RUNS_RERUN } from './spec.ts';

export type RunsRerunFlags = FlagsOf<typeof RUNS_RERUN.flags>;

/** Creates the same run again, with the changes of the flags, as a new creation. */
export async function rerun(
  ctx: Context,
  name: string | undefined,
  flags: RunsRerunFlags,
): Promise<ExitCode> {
  requireRunsOrLast(ctx, name === undefined ? [] : [name], flags);

  if (flags.compare === true && (flags.save !== undefined || flags.open === true)) {
    throw usageError(
      '--compare shows both outputs; it saves and opens none',
      `Save those of the new run with: ${ctx.formatCommand('runs', 'save', '--last')}`,
    );
  }

  if (flags.model !== undefined) requireLocalService(ctx, '--model');
  const budget = new Budget(ctx, parseCaps(flags));
  const createPresentation = await createOutputPlan(ctx, flags);
  const connection = await ctx.connection();
  budget.checkCostCap(connection);

  const originalRequest = name?.endsWith('.json')
    ? await readRequestFromManifest(ctx, connection, name)
    : await readRequestFromService(ctx, connection, await resolveNamedRun(ctx, connection, name));
  const request = await buildChangedRequest(ctx, connection, originalRequest, flags);

  // Read before the new run is paid for: without the original one there is nothing to compare with.
  const originalRun =
    flags.compare === true
      ? await fetchOriginalRun(ctx, connection, originalRequest.runId)
      : undefined;

  const startedAt = ctx.clock.now();
  const run = await createRerun(ctx, connection, request, budget);
  const facts = { request, startedAt, endedAt: ctx.clock.now() };

  return printResult(ctx, { runId: run.runId, connection }, async out => {
    if (originalRun === undefined) {
      return presentRun(out, connection, run, createPresentation(facts));
    }
    const { showComparedRuns } = await import('../../comparing/show-compared-runs.ts');
    return showComparedRuns(out, connection, { before: originalRun, after: run });
  });
}

/** Adds to the refusal of a missing model the hint to name its models file again. */
function withModelsFlagHint(
  { globals }: Context,
  { isEmbedded }: Connection,
  error: unknown,
): unknown {
  if (!isMissingModelError(error) || !isEmbedded || globals.models !== undefined) return error;
  const { message, ...failure } = toFailure(error);
  const hints = ['If the model is in a models file, name the file again: --models <file>'];
  return new CliError(message, { ...failure, hints, cause: error });
}

/**
 * Returns true for the refusal of a model that doesn't exist, for which the service has no separate
 * status.
 */
function isMissingModelError(error: unknown): boolean {
  return error instanceof ValidationError && error.message.includes('` does not exist');
}

async function fetchOriginalRun(ctx: Context, connection: Connection, runId: string): Promise<Run> {
  const runPromise = connection.client.runs.get(runId, { signal: ctx.signal });
  return await askOfRun(ctx, connection, { verb: 'rerun', runId }, runPromise);
}

async function createRerun(
  ctx: Context,
  connection: Connection,
  request: RunRequest,
  budget: Budget,
): Promise<Run> {
  const progress = startProgress(ctx, { status: 'creating the run', pollCount: 0 });
  try {
    const creation = await createAndWait(ctx, connection, buildRunBody(request), {
      budget,
      onProgress: state => progress.update(state),
    });
    if (creation.kind === 'ended') return creation.run;
    throw new Error('a run that was waited for has not ended');
  } catch (error) {
    throw withModelsFlagHint(ctx, connection, error);
  } finally {
    progress.stop();
  }
}
