import { ServiceError } from '../../client/errors.ts';
import { answerIsLost } from '../../client/find-lost-run.ts';
import { errorMessage } from '../../utils/error-utils.ts';
import type { RunRow } from '../../wire/index.ts';
import type { Connection } from '../context.ts';
import { CliError, Interrupted, TimeIsUp, waitTimeoutError } from '../core/errors.ts';
import { EXIT } from '../core/exit-codes.ts';
import type { JournalEntry } from '../settings/journal/journal-lines.ts';

type Advising = Pick<Connection, 'advise' | 'client'>;

/** A creation may have made a run, or its run is not known. Exit 1. */
export class CreationInDoubt extends CliError {
  override readonly name = 'CreationInDoubt';
  readonly candidates: readonly RunRow[];
  readonly entry: JournalEntry;

  /** @param runs the runs that match; undefined if there was no search */
  constructor(
    cause: unknown,
    runs: readonly RunRow[] | undefined,
    entry: JournalEntry,
    connection: Advising,
  ) {
    const candidates = runs ?? [];
    super(`${doubtText(cause)}: ${errorMessage(cause)}`, {
      status: causeStatus(cause),
      exitCode: EXIT.fault,
      hints: doubtHints(connection, entry, runs),
      data: {
        candidates: candidates.map(({ runId, runStatus, createdAt }) => ({ runId, runStatus, createdAt })),
      },
      cause,
    });
    this.candidates = candidates;
    this.entry = entry;
  }
}

/** Explains why a creation is in doubt: it was not answered, or the service answered only with its own faults. */
export function doubtText(cause: unknown): string {
  const isAnswered = cause instanceof ServiceError && !answerIsLost(cause);
  return isAnswered ? 'the service failed to create the run' : 'the answer to the creation was lost';
}

const NOT_SEARCHED =
  'A run may have been created anyway. The creation is not sent again, since it may cost credits.';
const NO_MATCH =
  'No matching run was found, but one may still appear. The creation is not sent again, since it may cost credits.';
const MAY_BE_ANOTHERS =
  'The list shows no inputs, so a matching run may belong to somebody else with the same key. Check it before you use it.';
const MAX_CANDIDATES = 10;

/**
 * Returns hints on what to do about a creation without a known run.
 *
 * @param runs the runs that match; undefined if there was no search
 */
export function doubtHints(
  connection: Advising,
  entry: JournalEntry,
  runs: readonly RunRow[] | undefined,
): string[] {
  if (runs !== undefined && runs.length > 0) {
    return [...describeCandidates(connection, runs), MAY_BE_ANOTHERS];
  }
  return [runs === undefined ? NOT_SEARCHED : NO_MATCH, findLaterHint(connection, entry)];
}

/** Returns a hint to find the run later: by its key if the service keeps keys, else among the runs since its creation. */
function findLaterHint(connection: Advising, entry: JournalEntry): string {
  const { advise, client } = connection;
  const isKept = client.keepsIdempotencyKeys === true;
  return `Look for it with: ${isKept ? advise('runs', 'wait', '--last') : listSince(connection, entry)}`;
}

/** Returns the command that lists the runs since a creation, by the service's clock. */
export function listSince(
  { advise }: Pick<Advising, 'advise'>,
  { time, clockOffsetMs = 0 }: Pick<JournalEntry, 'time' | 'clockOffsetMs'>,
): string {
  const since = new Date(Math.floor((Date.parse(time) + clockOffsetMs) / 1000) * 1000).toISOString();
  return advise('runs', 'list', '--since', since.replace('.000', ''));
}

/** Returns a line for each candidate run, with the command that waits for it. */
function describeCandidates({ advise }: Pick<Advising, 'advise'>, candidates: readonly RunRow[]): string[] {
  const candidateLines = candidates
    .slice(0, MAX_CANDIDATES)
    .map(
      ({ runId, runStatus, createdAt }) =>
        `It may be ${runId} (${runStatus}, created ${createdAt}): ${advise('runs', 'wait', runId)}`,
    );
  const unnamedCount = candidates.length - candidateLines.length;
  return unnamedCount > 0
    ? [...candidateLines, `… or one of ${unnamedCount} more: ${advise('runs', 'list')}`]
    : candidateLines;
}

function causeStatus(cause: unknown): string {
  return cause instanceof Error && 'status' in cause && typeof cause.status === 'string'
    ? cause.status
    : 'NETWORK_ERROR';
}

/**
 * Returns the error of a command that Ctrl-C, SIGTERM or `--timeout` ended, with the fate of its run.
 *
 * @param reason the abort reason; any other reason is returned unchanged
 */
function endedEarly(
  reason: unknown,
  message: string,
  { hints, data }: { readonly hints: readonly string[]; readonly data?: unknown },
): unknown {
  if (reason instanceof Interrupted) return new Interrupted(reason.signal, hints, { message, data });
  return reason instanceof TimeIsUp
    ? waitTimeoutError(`gave up waiting; ${message}`, { hints, data })
    : reason;
}

/** Returns the error if the command ended before it sent any of the creation. */
export function endedUnsent(reason: unknown): unknown {
  const hints = reason instanceof TimeIsUp ? reason.hints : [];
  return endedEarly(reason, 'no run was started', { hints, data: { started: false } });
}

/** Returns the error if the command ended before the creation was answered, so that its run is unknown. */
export function endedBeforeAnswer(
  reason: unknown,
  connection: Connection,
  entry: JournalEntry,
  candidates: readonly RunRow[] = [],
): unknown {
  const message =
    reason instanceof TimeIsUp
      ? 'the creation has not been answered, and a run may continue'
      : 'a run may have been started and may continue';
  const hints = [...describeCandidates(connection, candidates), findLaterHint(connection, entry)];
  return endedEarly(reason, message, { hints });
}

/** Returns the error if the command ended while it waited for a run. */
export function endedWaiting(reason: unknown, { advise }: Connection, runId: string): unknown {
  const hints = [`Get it with: ${advise('runs', 'wait', runId)}`];
  return endedEarly(reason, `run ${runId} continues`, { hints, data: { runId } });
}

/** Returns the error if the command stopped a run of its own process, or the run had just ended on its own. */
export function endedWithRun(
  reason: unknown,
  { advise }: Connection,
  { runId, stopped }: { readonly runId: string; readonly stopped: boolean },
): unknown {
  const [message, hint] = stopped
    ? [
        `run ${runId} was stopped and has failed; it may have been paid for`,
        `Run it again with: ${advise('runs', 'rerun', runId)}`,
      ]
    : [`run ${runId} has ended`, `Get it with: ${advise('runs', 'get', runId)}`];
  return endedEarly(reason, message, { hints: [hint], data: { runId } });
}
