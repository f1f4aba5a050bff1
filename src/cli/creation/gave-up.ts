import type { RunRow } from '../../wire/index.ts';
import type { Connection } from '../context.ts';
import { Interrupted, stopperOf, TimeIsUp, waitTimeout } from '../errors.ts';
import type { JournalEntry } from '../settings/journal/journal-lines.ts';
import { describeCandidates, laterHint } from './in-doubt.ts';

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
  candidates: readonly RunRow[],
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

/** A run that this process carried out itself. */
export interface RunHere {
  /** Undefined where the creation has made none. */
  readonly runId?: string;
  /** False where it had ended by itself. */
  readonly stopped: boolean;
}

/** Stops the run of a creation that this process carries out itself; undefined where it is another's to end. */
export async function stopHere(
  { runsHere }: Connection,
  journalId: string,
  reason: unknown,
): Promise<RunHere | undefined> {
  const by = stopperOf(reason);
  if (runsHere === undefined || by === undefined) return undefined;
  return (await runsHere.stop(journalId, by)) ?? { stopped: false };
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
