import { WaitTimeoutError } from '../../client/errors.ts';
import { type PollEvent, waitForRun } from '../../client/wait-for-run.ts';
import { isOver, RUN_STATUSES, type Run } from '../../wire/index.ts';
import type { Connection, Context } from '../context.ts';
import { TimeLimitError } from '../core/errors.ts';
import { findProviderFault } from '../outputs/provider-fault.ts';
import { listWarnings } from '../outputs/run-errors.ts';
import { toOneLine } from '../terminal/sanitise.ts';
import { createRun } from './create-run.ts';
import {
  type CreateRunOptions,
  type CreationRequest,
  type CreationResult,
  mayHaveRun,
} from './creation-result.ts';
import type { Budget, Reservation } from './spending/budget.ts';
import { stoppedWaitingError } from './stop-errors.ts';

/**
 * Interval of polls of a service on this machine, in milliseconds. Such polls are cheap, and the
 * run may be another command's.
 */
const EMBEDDED_POLL_INTERVAL_MS = 50;

interface CreateAndWaitOptions extends CreateRunOptions {
  /** Reserves room for the run before it is created; nothing is counted by default. */
  readonly budget?: Budget | undefined;
  /** Room in the budget that is already reserved. */
  readonly reservation?: Reservation | undefined;
  /** The estimate in the service's search results. */
  readonly estimatedCredits?: unknown;
  /**
   * Waits until the request may be sent, and returns the connection to send it with. The creation
   * is journaled only afterwards, so that one that is killed while it waits is not in doubt.
   */
  readonly takeTurn?: (() => Promise<Connection>) | undefined;
  /** False to return a running run at once. Default true. */
  readonly wait?: boolean;
  /** Ends the wait, not the creation; the context's signal ends both. */
  readonly waitSignal?: AbortSignal;
  /**
   * Called with the run's id if the run continues after the answer to its creation; awaited before
   * the first poll.
   */
  readonly onRunId?: (runId: string, recovered: boolean) => void | Promise<void>;
  readonly onProgress?: (progress: WaitProgress) => void;
}

/**
 * Creates a run and waits for it: journal, `POST`, recovery of a lost answer, polling to the end.
 * Every command starts its runs here.
 *
 * @throws {CliError} CAP_REACHED if it exceeds the budget; nothing was sent
 * @throws {CreationInDoubtError} if it is unknown whether a run was made, or which
 * @throws {CliError} WAIT_TIMEOUT or INTERRUPTED; says whether the run continues and how to get it
 * @throws the client's errors; if the creation ended in one, no run was made, except maybe after a
 * 5xx of the service's own
 */
export async function createAndWait(
  ctx: Context,
  connection: Connection,
  request: CreationRequest,
  options: CreateAndWaitOptions = {},
): Promise<CreationResult> {
  const reservation =
    options.reservation ?? (await options.budget?.reserve(connection, request, options));
  let runId: string | undefined;
  try {
    const turnConnection = (await options.takeTurn?.()) ?? connection;
    let creation = await createRun(ctx, turnConnection, request, options);
    if (creation.kind === 'running') {
      ({ runId } = creation);
      await options.onRunId?.(runId, creation.recovered);
      if (options.wait !== false) creation = await waitForEnd(ctx, connection, creation, options);
    }

    if (creation.kind === 'ended') reportWarnings(ctx, creation.run);
    if (reservation) await settleReservation(reservation, connection, creation);
    return creation;
  } catch (error) {
    if (runId !== undefined) {
      await reservation?.commitRun({ runId });
    } else if (mayHaveRun(error)) {
      reservation?.markInDoubt();
    } else {
      reservation?.release();
    }
    throw error;
  }
}

/**
 * Counts a created run against the budget, unless its provider refused it, so that it cost nothing.
 */
async function settleReservation(
  reservation: Reservation,
  connection: Connection,
  creation: CreationResult,
): Promise<void> {
  if (creation.kind === 'running') return await reservation.commitRun({ runId: creation.runId });
  if (findProviderFault(connection, creation.run)) {
    reservation.release();
  } else {
    await reservation.commitRun(creation.run);
  }
}

function reportWarnings({ io }: Context, run: Run): void {
  if (run.warnings === undefined) return;
  for (const warning of listWarnings(run)) io.noteOnce(`note: ${toOneLine(warning)}`);
}

async function waitForEnd(
  ctx: Context,
  connection: Connection,
  { runId, runStatus, journalId, recovered }: Extract<CreationResult, { kind: 'running' }>,
  { onProgress, waitSignal }: CreateAndWaitOptions,
): Promise<CreationResult> {
  const signal = waitSignal === undefined ? ctx.signal : AbortSignal.any([ctx.signal, waitSignal]);
  const options = { delayFirst: !recovered, idFromService: true, onProgress, status: runStatus };
  const run = await waitForKnownRun({ ...ctx, signal }, connection, runId, options);
  recordEnd(ctx, journalId, run);
  return { kind: 'ended', run: recovered ? { ...run, recovered } : run, journalId };
}

/** The latest facts about a run during the wait. */
interface WaitProgress {
  readonly status: string;
  /** The number of polls answered so far; always 0 for an embedded service, whose polls are cheap. */
  readonly pollCount: number;
  /**
   * The fault that keeps the service from answering, and its start in milliseconds since the Unix
   * epoch; undefined if it answers.
   */
  readonly silence?: { readonly reason: string; readonly since: number } | undefined;
}

interface RunWaitOptions {
  /**
   * True to delay the first poll, because the service has just answered that the run takes longer.
   * Default false.
   */
  readonly delayFirst?: boolean;
  /** True if the id came from the service: a 404 is then retried for a minute. */
  readonly idFromService: boolean;
  readonly onProgress?: ((progress: WaitProgress) => void) | undefined;
  /** The status before the first poll. Default `running`. */
  readonly status?: string;
}

/**
 * Polls until a run has ended.
 *
 * @throws {CliError} WAIT_TIMEOUT or INTERRUPTED; names the run and how to get it
 */
export async function waitForKnownRun(
  ctx: Context,
  connection: Connection,
  runId: string,
  { onProgress, ...options }: RunWaitOptions,
): Promise<Run> {
  let { status = 'running' } = options;
  reportUnknownStatus(ctx, runId, status);
  const { client } = connection;
  const { clock, signal } = ctx;
  const timeoutMs = ctx.timeLeftMs();

  const onPoll = ({ run, error, failingMs, polls }: PollEvent): void => {
    if (run !== undefined && run.runStatus !== status) {
      status = run.runStatus;
      reportUnknownStatus(ctx, runId, status);
    }
    const silence = error && { reason: error.message, since: client.now() - failingMs };
    onProgress?.({ status, pollCount: connection.isEmbedded ? 0 : polls, silence });
  };

  try {
    return await waitForRun(client, runId, {
      ...options,
      signal,
      onPoll,
      sleep: (ms, until) => clock.sleep(ms, until),
      ...(Number.isFinite(timeoutMs) && { timeoutMs }),
      ...(connection.isEmbedded && { intervalMs: EMBEDDED_POLL_INTERVAL_MS }),
    });
  } catch (error) {
    const hasTimedOut = error instanceof WaitTimeoutError;
    if (!hasTimedOut && !signal.aborted) throw error;
    throw stoppedWaitingError(
      hasTimedOut ? new TimeLimitError() : signal.reason,
      connection,
      runId,
    );
  }
}

/** Reports an unknown status, unless a spinner shows every status anyway. */
function reportUnknownStatus({ io }: Context, runId: string, status: string): void {
  if (io.stderr.isTerminal || RUN_STATUSES.some(knownStatus => knownStatus === status)) return;
  io.noteOnce(
    `note: run ${toOneLine(runId)} has unknown status ${toOneLine(JSON.stringify(status))}; still waiting`,
  );
}

/**
 * Writes the end of a run into the journal. Ignores a failed write, because the service knows the
 * end too.
 */
export function recordEnd({ journal }: Context, journalId: string, run: Run): void {
  const { runId, runStatus } = run;
  if (isOver(run)) {
    journal.recordOutcome(journalId, { outcome: 'ended', runId, runStatus }).catch(() => {});
  }
}
