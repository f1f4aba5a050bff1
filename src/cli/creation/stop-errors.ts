import type { RunRow } from '../../wire/index.ts';
import type { Connection } from '../context.ts';
import { InterruptedError, TimeLimitError, waitTimeoutError } from '../core/errors.ts';
import type { JournalEntry } from '../settings/journal/journal-lines.ts';
import { describeCandidates, formatFindLaterHint } from './in-doubt.ts';

// The errors of a command that Ctrl-C, SIGTERM or `--timeout` stopped. Each takes the abort reason;
// any other reason is returned unchanged.

/** Returns the error if none of the creation was sent. */
export function stoppedBeforeSendingError(reason: unknown): unknown {
  const hints = reason instanceof TimeLimitError ? reason.hints : [];
  return stopError(reason, 'no run was started', { hints, data: { started: false } });
}

/** Returns the error if the creation was not answered, so that its run is unknown. */
export function stoppedBeforeAnswerError(
  reason: unknown,
  connection: Connection,
  entry: JournalEntry,
  candidates: readonly RunRow[] = [],
): unknown {
  const message =
    reason instanceof TimeLimitError
      ? 'the creation has not been answered, and a run may continue'
      : 'a run may have been started and may continue';
  const hints = [
    ...describeCandidates(connection, candidates),
    formatFindLaterHint(connection, entry),
  ];
  return stopError(reason, message, { hints });
}

/** Returns the error if the command was waiting for a run. */
export function stoppedWaitingError(
  reason: unknown,
  { formatCommand }: Connection,
  runId: string,
): unknown {
  const hints = [`Get it with: ${formatCommand('runs', 'wait', runId)}`];
  return stopError(reason, `run ${runId} continues`, { hints, data: { runId } });
}

/**
 * Returns the error if the command stopped a run of its own process, or the run had just ended by
 * itself.
 */
export function stoppedOwnRunError(
  reason: unknown,
  { formatCommand }: Connection,
  { runId, isStopped }: { readonly runId: string; readonly isStopped: boolean },
): unknown {
  const [message, hint] = isStopped
    ? [
        `run ${runId} was stopped and has failed; it may have been paid for`,
        `Run it again with: ${formatCommand('runs', 'rerun', runId)}`,
      ]
    : [`run ${runId} has ended`, `Get it with: ${formatCommand('runs', 'get', runId)}`];
  return stopError(reason, message, { hints: [hint], data: { runId } });
}

/** Returns the error, which says what becomes of the run. */
function stopError(
  reason: unknown,
  message: string,
  { hints, data }: { readonly hints: readonly string[]; readonly data?: unknown },
): unknown {
  if (reason instanceof InterruptedError) {
    return new InterruptedError(reason.signal, hints, { message, data });
  }
  return reason instanceof TimeLimitError
    ? waitTimeoutError(`gave up waiting; ${message}`, { hints, data })
    : reason;
}
