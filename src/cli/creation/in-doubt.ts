import { messageOf } from '../../files/error-utils.ts';
import type { RunRow } from '../../wire/index.ts';
import type { Connection } from '../context.ts';
import { CliError, Interrupted, TimeIsUp, waitTimeout } from '../errors.ts';
import { EXIT } from '../exit-codes.ts';
import type { JournalEntry } from '../settings/journal/journal-lines.ts';

type Advising = Pick<Connection, 'advise' | 'client'>;

/** It is not known whether a creation made a run, or which. Exit 1. */
export class CreationInDoubt extends CliError {
  override readonly name = 'CreationInDoubt';
  readonly candidates: readonly RunRow[];
  readonly entry: JournalEntry;

  /** @param runs those that fit; undefined if nobody has looked for them */
  constructor(
    cause: unknown,
    runs: readonly RunRow[] | undefined,
    entry: JournalEntry,
    connection: Advising,
  ) {
    const candidates = runs ?? [];
    super(`the answer to the creation was lost: ${messageOf(cause)}`, {
      status: statusOf(cause),
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

const NOT_SEEN = 'A run may have been made all the same; it is not sent again, since it may cost credits.';
const NOTHING_FITS =
  'No run that fits was found, but one may still appear; it is not sent again, since it may cost credits.';
const ANYBODYS =
  'A list shows no inputs: a run that fits may also be one of somebody else with the same key. Look before you use it.';
const MOST_NAMED = 10;

/**
 * Returns how to go on after a creation whose run is not known.
 *
 * @param runs those that fit; undefined if nobody has looked for them
 */
export function doubtHints(
  connection: Advising,
  entry: JournalEntry,
  runs: readonly RunRow[] | undefined,
): string[] {
  if (runs !== undefined && runs.length > 0) return [...describeCandidates(connection, runs), ANYBODYS];
  return [runs === undefined ? NOT_SEEN : NOTHING_FITS, laterHint(connection, entry)];
}

/** How to look for the run of a creation later: by its key if the service keeps it, else among the runs since then. */
function laterHint({ advise, client }: Advising, { time, clockOffsetMs = 0 }: JournalEntry): string {
  if (client.keepsIdempotencyKeys === true) return `Look for it with: ${advise('runs', 'wait', '--last')}`;
  const since = new Date(Math.floor((Date.parse(time) + clockOffsetMs) / 1000) * 1000).toISOString();
  return `Look for it with: ${advise('runs', 'list', '--since', since.replace('.000', ''))}`;
}

/** A line for each run that may be the one, with how to take it up. */
function describeCandidates({ advise }: Pick<Advising, 'advise'>, candidates: readonly RunRow[]): string[] {
  const named = candidates
    .slice(0, MOST_NAMED)
    .map(
      ({ runId, runStatus, createdAt }) =>
        `It may be ${runId} (${runStatus}, created ${createdAt}): ${advise('runs', 'wait', runId)}`,
    );
  const left = candidates.length - named.length;
  return left > 0 ? [...named, `… or one of ${left} more: ${advise('runs', 'list')}`] : named;
}

function statusOf(cause: unknown): string {
  return cause instanceof Error && 'status' in cause && typeof cause.status === 'string'
    ? cause.status
    : 'NETWORK_ERROR';
}

/**
 * The error of a command that was given up by Ctrl-C, SIGTERM or `--timeout`, with what became of its run.
 *
 * @param reason that of the signal; any other than those is given back
 */
function gaveUp(
  reason: unknown,
  message: string,
  { hints, data }: { readonly hints: readonly string[]; readonly data?: unknown },
): unknown {
  if (reason instanceof Interrupted) return new Interrupted(reason.signal, hints, { message, data });
  return reason instanceof TimeIsUp ? waitTimeout(`gave up waiting; ${message}`, { hints, data }) : reason;
}

/** Before any of the creation was sent. */
export function gaveUpUnsent(reason: unknown): unknown {
  const hints = reason instanceof TimeIsUp ? reason.hints : [];
  return gaveUp(reason, 'no run was started', { hints, data: { started: false } });
}

/** Before the creation was answered; its run is not known. */
export function gaveUpCreation(
  reason: unknown,
  connection: Connection,
  entry: JournalEntry,
  candidates: readonly RunRow[] = [],
): unknown {
  const message =
    reason instanceof TimeIsUp
      ? 'the creation has not been answered, a run may go on'
      : 'a run may have been started and may go on';
  const hints = [...describeCandidates(connection, candidates), laterHint(connection, entry)];
  return gaveUp(reason, message, { hints });
}

/** While a run was waited for. */
export function gaveUpWaiting(reason: unknown, { advise }: Connection, runId: string): unknown {
  const hints = [`Get it with: ${advise('runs', 'wait', runId)}`];
  return gaveUp(reason, `run ${runId} goes on`, { hints, data: { runId } });
}

/** Once the run of this very process was stopped, unless it had ended by itself. */
export function stoppedHere(
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
  return gaveUp(reason, message, { hints: [hint], data: { runId } });
}
