import { withoutListenerLimit } from '../../utils/abort-signals.ts';
import type { Run } from '../../wire/index.ts';
import type { Connection, Context } from '../context.ts';
import { createAndWait } from '../creation/create-and-wait.ts';
import type { CreationRequest } from '../creation/creation-result.ts';
import type { Reservation } from '../creation/spending/budget.ts';

/** A client's call of a tool. */
export interface ToolCall {
  /** Aborted if the client cancels the call. */
  readonly signal: AbortSignal;
  /** Returns true after the session has ended, and with it the runs of the embedded service. */
  readonly isSessionOver: () => boolean;
  /** Reports progress to the client, if it asked for it. */
  readonly reportProgress: (message: string) => void;
}

/** Interval between progress reports to a client, in milliseconds; the first one comes sooner. */
const PROGRESS_INTERVAL_MS = 1000;

const FIRST_PROGRESS_DELAY_MS = 200;

/** A run that a call of a tool waits for. */
interface FollowedRun {
  readonly ctx: Context;
  readonly connection: Connection;
  readonly call: ToolCall;
  /** The id of the run, once known. */
  runId?: string | undefined;
  /** The idempotency key of its creation; undefined if the call did not send one. */
  idempotencyKey?: string | undefined;
}

/**
 * Creates a run and waits for it. Reports its progress to the client; if the call is cancelled or
 * the session ends before the run, shows the user how to get it.
 */
export async function createAndFollow(
  ctx: Context,
  connection: Connection,
  request: CreationRequest,
  { reservation, ...call }: ToolCall & { readonly reservation: Reservation },
): Promise<Run> {
  const followedRun: FollowedRun = { ctx, connection, call };
  const hints = new LeftRunHints(followedRun);
  return await withProgress(followedRun, async endSignal => {
    // The run of a cancelled call continues until the session ends. All calls of a session listen
    // to its signal.
    for (const signal of [call.signal, withoutListenerLimit(ctx.signal)]) {
      signal.addEventListener('abort', () => void hints.print(), { signal: endSignal });
    }

    const creation = await createAndWait(ctx, connection, request, {
      reservation,
      waitSignal: call.signal,
      onBegin: async entry => {
        followedRun.idempotencyKey = entry.id;
      },
      onRunId: runId => {
        followedRun.runId = runId;
        call.reportProgress(`run ${runId} is running`);
        if (call.signal.aborted) void hints.print();
      },
    });
    if (creation.kind === 'ended') return creation.run;
    throw new Error('a run that was waited for has not ended');
  });
}

/** The hints, on standard error, for a run that its call no longer waits for. */
class LeftRunHints {
  readonly #run: FollowedRun;
  #lastHint: string | undefined;

  constructor(run: FollowedRun) {
    this.#run = run;
  }

  /** Prints the hint if it differs from the last one; nothing if no creation was sent. */
  async print(): Promise<void> {
    const run = this.#run;
    const { connection, call } = run;
    const { signal, io } = run.ctx;
    if (run.idempotencyKey === undefined) return;

    const isStopped = (call.isSessionOver() || signal.aborted) && connection.isEmbedded;
    run.runId ??= await findRunIdByKey(run, signal);
    const hint = isStopped
      ? adviseAfterStop(connection, run.runId)
      : adviseWhileRunning(connection, run.runId);
    if (hint !== this.#lastHint) io.error(hint);
    this.#lastHint = hint;
  }
}

function adviseWhileRunning({ formatCommand }: Connection, runId: string | undefined): string {
  return runId === undefined
    ? `note: a call was cancelled; its run may continue, get the latest with: ${formatCommand('runs', 'wait', '--last')}`
    : `note: a call was cancelled; run ${runId} continues, get it with: ${formatCommand('runs', 'wait', runId)}`;
}

function adviseAfterStop({ formatCommand }: Connection, runId: string | undefined): string {
  const again =
    runId === undefined
      ? `look for it with: ${formatCommand('runs', 'list')}`
      : `run it again with: ${formatCommand('runs', 'rerun', runId)}`;
  const run = runId === undefined ? 'a run' : `run ${runId}`;
  return `note: the session has ended; ${run} was stopped and may have been paid for, ${again}`;
}

/**
 * Waits for work on a run, and reports progress to the client once a second. The signal that `work`
 * gets is aborted after it.
 */
export async function withProgress<T>(
  run: FollowedRun,
  work: (endSignal: AbortSignal) => Promise<T>,
): Promise<T> {
  const workEnd = new AbortController();
  const reports = reportProgress(run, workEnd.signal);
  try {
    return await work(workEnd.signal);
  } finally {
    workEnd.abort();
    await reports;
  }
}

async function reportProgress(run: FollowedRun, workEndSignal: AbortSignal): Promise<void> {
  const { ctx, call } = run;
  const endSignal = AbortSignal.any([call.signal, workEndSignal, ctx.signal]);
  const startedAt = ctx.clock.now();
  for (let pauseMs = FIRST_PROGRESS_DELAY_MS; !endSignal.aborted; pauseMs = PROGRESS_INTERVAL_MS) {
    await ctx.clock.sleep(pauseMs, endSignal).catch(() => {});
    if (endSignal.aborted) return;
    run.runId ??= await findRunIdByKey(run, endSignal);
    const seconds = Math.round((ctx.clock.now() - startedAt) / 1000);
    const state =
      run.runId === undefined ? 'the run is being created' : `run ${run.runId} is running`;
    call.reportProgress(`${state} (${seconds} s)`);
  }
}

/** Returns the run of a creation, from a service that keeps idempotency keys. */
async function findRunIdByKey(
  { connection: { client }, idempotencyKey }: FollowedRun,
  signal: AbortSignal,
): Promise<string | undefined> {
  if (idempotencyKey === undefined || client.keepsIdempotencyKeys !== true) return undefined;
  const page = await client.runs
    .list({ idempotencyKey, limit: 1 }, { signal, retries: 0 })
    .catch(() => undefined);
  return page?.rows.find(row => row.idempotencyKey === idempotencyKey)?.runId;
}
