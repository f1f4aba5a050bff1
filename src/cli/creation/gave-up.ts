import type { RunRow } from '../../wire/index.ts';
import type { Connection } from '../context.ts';
import { Interrupted, stopperOf, TimeIsUp, waitTimeout } from '../errors.ts';
import type { JournalEntry } from '../settings/journal/journal-lines.ts';
import { describeCandidates, laterHint } from './in-doubt.ts';

/**
 * What to say once a creation was given up before any of it was sent, by Ctrl-C, SIGTERM or `--timeout`.
 *
 * @param reason that of the signal; any other than those is given back
 */
export function gaveUpUnsent(reason: unknown): unknown {
  const data = { started: false };
  if (reason instanceof Interrupted) {
    return new Interrupted(reason.signal, [], { message: 'no run was started', data });
  }
  if (!(reason instanceof TimeIsUp)) return reason;
  return waitTimeout('gave up waiting; no run was started', { hints: reason.hints, data });
}

/** What to say once a creation was given up before it was answered, and its run is not known. */
export function gaveUpCreation(
  reason: unknown,
  connection: Connection,
  entry: JournalEntry,
  candidates: readonly RunRow[],
): unknown {
  const later = [laterHint(connection, entry)];
  if (reason instanceof Interrupted) {
    return new Interrupted(reason.signal, later, { message: 'a run may have been started and may go on' });
  }
  if (!(reason instanceof TimeIsUp)) return reason;
  return waitTimeout('gave up waiting; the creation has not been answered, a run may go on', {
    hints: [...describeCandidates(connection, candidates), ...later],
  });
}

/** What to say once a run was waited for no longer. */
export function gaveUpWaiting(reason: unknown, connection: Connection, runId: string): unknown {
  const data = { runId };
  const hints = [`Get it with: ${connection.advise('runs', 'wait', runId)}`];
  if (reason instanceof Interrupted) {
    return new Interrupted(reason.signal, hints, { message: `run ${runId} goes on`, data });
  }
  if (!(reason instanceof TimeIsUp)) return reason;
  return waitTimeout(`gave up waiting; run ${runId} goes on`, { hints, data });
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

/** What to say once the run of this very process was stopped, unless it had ended by itself. */
export function stoppedHere(
  reason: unknown,
  connection: Connection,
  { runId, stopped }: { readonly runId: string; readonly stopped: boolean },
): unknown {
  const what = stopped
    ? `run ${runId} was stopped and has failed; it may have been paid for`
    : `run ${runId} has ended`;
  const hints = stopped
    ? [`Run it again with: ${connection.advise('runs', 'rerun', runId)}`]
    : [`Get it with: ${connection.advise('runs', 'get', runId)}`];
  const data = { runId };
  return reason instanceof Interrupted
    ? new Interrupted(reason.signal, hints, { message: what, data })
    : waitTimeout(`gave up waiting; ${what}`, { hints, data });
}
