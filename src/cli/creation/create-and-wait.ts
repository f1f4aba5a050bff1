import type { Connection, Context } from '../context.ts';
import type { RunBody } from '../inputs/request-body.ts';
import { type Created, createRun } from './create-run.ts';
import { startDeadline } from './deadline.ts';
import { recordEnd } from './record-end.ts';
import { type WaitProgress, waitToTheEnd } from './wait.ts';

export interface CreateAndWaitOptions {
  /** The command's own signal where absent. */
  readonly signal?: AbortSignal;
  /** From the creation on, in milliseconds; no limit where absent. */
  readonly timeoutMs?: number;
  /** Tries of the creation after the first, where it was certainly refused; the client's usual number where absent. */
  readonly retries?: number;
  /** False gives a run that still goes on back at once. Default true. */
  readonly wait?: boolean;
  /** Told the id of a run that is not finished with its creation, before it is polled. */
  readonly onRunId?: (runId: string) => void | Promise<void>;
  readonly onProgress?: (progress: WaitProgress) => void;
}

/**
 * The one way a run is started: journal, `POST`, recovery of a lost answer, polling to the end.
 *
 * @throws {CreationInDoubt} where the answer was lost and not exactly one run fits
 * @throws {CliError} WAIT_TIMEOUT or INTERRUPTED, saying whether the run goes on and how to get it
 * @throws what the client throws; nothing was started then, except after a 5xx of the service's own
 */
export async function createAndWait(
  ctx: Context,
  connection: Connection,
  request: RunBody,
  options: CreateAndWaitOptions = {},
): Promise<Created> {
  const deadline = startDeadline(ctx.clock, options.timeoutMs, options.signal ?? ctx.signal);
  try {
    const created = await createRun(ctx, connection, request, deadline.signal, options.retries);
    if (created.kind === 'ended') return created;
    await options.onRunId?.(created.runId);
    if (options.wait === false) return created;
    const { fresh } = created;
    const run = await waitToTheEnd(connection, created.runId, deadline, {
      fresh,
      onProgress: options.onProgress,
    });
    await recordEnd(ctx, created.journalId, run);
    return { kind: 'ended', run };
  } finally {
    deadline.stop();
  }
}

export type { Created } from './create-run.ts';
export type { WaitProgress } from './wait.ts';
