import { withoutListenerLimit } from '../../utils/abort-signals.ts';
import type { Run } from '../../wire/index.ts';
import type { Connection, Context } from '../context.ts';
import type { Reservation } from '../creation/budget.ts';
import { createAndWait } from '../creation/create-and-wait.ts';
import type { CreationRequest } from '../creation/creation-result.ts';

/** A client's call of a tool. */
export interface ToolCall {
  /** Aborted if the client cancels the call. */
  readonly signal: AbortSignal;
  /** Returns true after the session has ended, and with it the runs of the embedded service. */
  readonly isSessionOver: () => boolean;
  /** Reports progress to the client, if it asked for it. */
  readonly progress: (message: string) => void;
}

/** Interval between progress reports to a client, in milliseconds; the first one comes sooner. */
const PROGRESS_MS = 1000;

const FIRST_PROGRESS_MS = 200;

/** The identity of a run: its id once known, before that the key of its creation. */
interface RunIdentity {
  runId: string | undefined;
  key: string | undefined;
}

/**
 * Creates a run and waits for it. Reports its progress to the client; if the call is cancelled or
 * the session ends before the run, shows the user how to get it.
 */
export async function createAndFollow(
  ctx: Context,
  connection: Connection,
  request: CreationRequest,
  call: ToolCall & { readonly reservation: Reservation },
): Promise<Run> {
  const identity: RunIdentity = { runId: undefined, key: undefined };
  const hints = new LeftRunHints(ctx, connection, identity, call);
  return await withProgress(ctx, connection, identity, call, async endSignal => {
    // The run of a cancelled call continues until the session ends. All calls of a session listen
    // to its signal.
    for (const signal of [call.signal, withoutListenerLimit(ctx.signal)]) {
      signal.addEventListener('abort', () => void hints.print(), { signal: endSignal });
    }

    const creation = await createAndWait(ctx, connection, request, {
      reservation: call.reservation,
      waitSignal: call.signal,
      onBegin: async entry => {
        identity.key = entry.id;
      },
      onRunId: runId => {
        identity.runId = runId;
        call.progress(`run ${runId} is running`);
        if (call.signal.aborted) void hints.print();
      },
    });
    if (creation.kind === 'ended') return creation.run;
    throw new Error('a run that was waited for has not ended');
  });
}

/** The hints, on standard error, for a run that its call no longer waits for. */
class LeftRunHints {
  readonly #ctx: Context;
  readonly #connection: Connection;
  readonly #identity: RunIdentity;
  readonly #call: ToolCall;
  #lastHint: string | undefined;

  constructor(ctx: Context, connection: Connection, identity: RunIdentity, call: ToolCall) {
    this.#ctx = ctx;
    this.#connection = connection;
    this.#identity = identity;
    this.#call = call;
  }

  /** Prints the hint if it differs from the last one; nothing if no creation was sent. */
  async print(): Promise<void> {
    const { signal, io } = this.#ctx;
    const identity = this.#identity;
    if (identity.key === undefined) return;

    const isStopped = (this.#call.isSessionOver() || signal.aborted) && this.#connection.embedded;
    identity.runId ??= await findRunIdByKey(this.#connection, identity.key, signal).catch(
      () => undefined,
    );
    const hint = isStopped
      ? adviseAfterStop(this.#connection, identity.runId)
      : adviseWhileRunning(this.#connection, identity.runId);
    if (hint !== this.#lastHint) io.error(hint);
    this.#lastHint = hint;
  }
}

function adviseWhileRunning({ advise }: Connection, runId: string | undefined): string {
  return runId === undefined
    ? `note: a call was cancelled; its run may continue, get the latest with: ${advise('runs', 'wait', '--last')}`
    : `note: a call was cancelled; run ${runId} continues, get it with: ${advise('runs', 'wait', runId)}`;
}

function adviseAfterStop({ advise }: Connection, runId: string | undefined): string {
  const again =
    runId === undefined
      ? `look for it with: ${advise('runs', 'list')}`
      : `run it again with: ${advise('runs', 'rerun', runId)}`;
  const run = runId === undefined ? 'a run' : `run ${runId}`;
  return `note: the session has ended; ${run} was stopped and may have been paid for, ${again}`;
}

/**
 * Waits for work on a run, aborts `ended` after it, and reports progress to the client once a
 * second.
 */
export async function withProgress<T>(
  ctx: Context,
  connection: Connection,
  identity: RunIdentity,
  call: ToolCall,
  work: (ended: AbortSignal) => Promise<T>,
): Promise<T> {
  const workDone = new AbortController();
  const reports = reportProgress(ctx, connection, identity, { ...call, done: workDone.signal });
  try {
    return await work(workDone.signal);
  } finally {
    workDone.abort();
    await reports;
  }
}

async function reportProgress(
  ctx: Context,
  connection: Connection,
  identity: RunIdentity,
  { signal, done, progress }: ToolCall & { readonly done: AbortSignal },
): Promise<void> {
  const endSignal = AbortSignal.any([signal, done, ctx.signal]);
  const began = ctx.clock.now();
  for (let pause = FIRST_PROGRESS_MS; !endSignal.aborted; pause = PROGRESS_MS) {
    await ctx.clock.sleep(pause, endSignal).catch(() => {});
    if (endSignal.aborted) return;
    identity.runId ??= await findRunIdByKey(connection, identity.key, endSignal);
    const seconds = Math.round((ctx.clock.now() - began) / 1000);
    const { runId } = identity;
    const what = runId === undefined ? 'the run is being created' : `run ${runId} is running`;
    progress(`${what} (${seconds} s)`);
  }
}

/** Returns the run of a creation, from a service that keeps creation keys. */
async function findRunIdByKey(
  { client }: Connection,
  key: string | undefined,
  signal: AbortSignal,
): Promise<string | undefined> {
  if (key === undefined || client.keepsIdempotencyKeys !== true) return undefined;
  const page = await client.runs
    .list({ idempotencyKey: key, limit: 1 }, { signal, retries: 0 })
    .catch(() => undefined);
  return page?.rows.find(({ idempotencyKey }) => idempotencyKey === key)?.runId;
}
