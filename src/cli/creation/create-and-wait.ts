import type { Connection, Context } from '../context.ts';
import { createRun } from './create-run.ts';
import type { Created, CreateOptions } from './created.ts';
import { startDeadline } from './deadline.ts';
import type { CreationRequest } from './send-creation.ts';
import { recordEnd, type WaitProgress, waitToTheEnd } from './wait.ts';

export interface CreateAndWaitOptions extends CreateOptions {
  /** From the creation on, in milliseconds; no limit by default. */
  readonly timeoutMs?: number | undefined;
  /** False gives a run that still goes on back at once. Default true. */
  readonly wait?: boolean;
  /** Called with the id of a run that is not finished with its creation, before it is polled; awaited. */
  readonly onRunId?: (runId: string, recovered: boolean) => void | Promise<void>;
  readonly onProgress?: (progress: WaitProgress) => void;
}

/**
 * The one way a run is started: journal, `POST`, recovery of a lost answer, polling to the end.
 *
 * @throws {CreationInDoubt} where it is not known whether a run was made, or which
 * @throws {CliError} WAIT_TIMEOUT or INTERRUPTED, saying whether the run goes on and how to get it
 * @throws what the client throws; nothing was started then, except maybe after a 5xx of the service's own
 */
export async function createAndWait(
  ctx: Context,
  connection: Connection,
  request: CreationRequest,
  options: CreateAndWaitOptions = {},
): Promise<Created> {
  const deadline = startDeadline(ctx.clock, options.timeoutMs, ctx.signal);
  try {
    const created = await createRun(ctx, connection, request, deadline.signal, options);
    if (created.kind === 'ended') return created;
    const { runId, journalId, fresh, recovered } = created;
    await options.onRunId?.(runId, recovered);
    if (options.wait === false) return created;
    const run = await waitToTheEnd(connection, runId, deadline, {
      fresh,
      idFromService: true,
      onProgress: options.onProgress,
    });
    recordEnd(ctx, journalId, run);
    return { kind: 'ended', run: recovered ? { ...run, recovered } : run, journalId };
  } finally {
    deadline.stop();
  }
}

export type { Created } from './created.ts';
export type { WaitProgress } from './wait.ts';
