import { isOver, type Run } from '../../../wire/index.ts';
import type { Connection, Context } from '../../context.ts';
import type { FlagsOf } from '../../core/command-spec.ts';
import { usageError } from '../../core/errors.ts';
import { printValue } from '../../outputs/print-json.ts';
import { detectLocalService } from '../../targets/not-found.ts';
import { toOneLine } from '../../terminal/sanitise.ts';
import { askOfRun, isUnknownRunError, requireRunsOrLast, resolveNamedRun } from './named-run.ts';
import type { RUNS_CANCEL } from './spec.ts';

export type RunsCancelFlags = FlagsOf<typeof RUNS_CANCEL.flags>;

/** Cancels unfinished runs; reports those that had already ended. */
export async function cancelRuns(
  ctx: Context,
  names: readonly string[],
  flags: RunsCancelFlags,
): Promise<void> {
  requireRunsOrLast(ctx, names, flags);
  const connection = await ctx.connection();
  const runs: Run[] = [];
  for (const name of names.length === 0 ? [undefined] : names) {
    const runId = await resolveNamedRun(ctx, connection, name);
    const hadEnded = await isKnownToHaveEnded(ctx, connection, runId);
    const run = await cancelRun(ctx, connection, runId);
    runs.push(run);
    if (!ctx.globals.json) ctx.io.note(describeCancelledRun(run, { hadEnded }));
  }

  if (ctx.globals.json) await printValue(ctx, runs.length === 1 ? runs[0] : runs);
}

/**
 * Maximum time to read a run before it is cancelled, in milliseconds. It is short, because the run
 * may cost money meanwhile.
 */
const READ_TIMEOUT_MS = 2000;

/** Returns true if a run is known to have ended. A run that can't be read is cancelled anyway. */
async function isKnownToHaveEnded(
  { signal }: Context,
  { client }: Connection,
  runId: string,
): Promise<boolean> {
  try {
    return isOver(await client.runs.get(runId, { signal, retries: 0, timeoutMs: READ_TIMEOUT_MS }));
  } catch {
    signal.throwIfAborted();
    return false;
  }
}

async function cancelRun(ctx: Context, connection: Connection, runId: string): Promise<Run> {
  const { signal } = ctx;
  try {
    const cancelRequest = connection.client.runs.cancel(runId, { signal });
    return await askOfRun(ctx, connection, { verb: 'cancel', runId }, cancelRequest);
  } catch (error) {
    if (!isUnknownRunError(error) || (await detectLocalService(connection, signal))) throw error;
    throw usageError(
      `runs cancel: ${new URL(connection.baseUrl).host} can't cancel runs`,
      'Only the embedded service and a promptrun serve can.',
    );
  }
}

function describeCancelledRun(
  { runId, runStatus, outputs }: Run,
  { hadEnded }: { readonly hadEnded: boolean },
): string {
  const isCancelled = outputs.some(({ type, data }) => type === 'error' && data === 'cancelled');
  const id = toOneLine(runId);
  return isCancelled && !hadEnded
    ? `Run ${id} is cancelled.`
    : `Run ${id} has already ended: ${toOneLine(runStatus)}.`;
}
