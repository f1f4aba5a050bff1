import type { RunRow } from '../../wire/index.ts';
import type { Connection } from '../context.ts';
import { Interrupted, TimeIsUp, waitTimeout } from '../errors.ts';
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
  const later = [...laterIfEmbedded(connection), laterHint(connection, entry)];
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
  const hints = [...laterIfEmbedded(connection), `Get it with: ${connection.advise('runs', 'wait', runId)}`];
  if (reason instanceof Interrupted) {
    return new Interrupted(reason.signal, hints, { message: `run ${runId} goes on`, data });
  }
  if (!(reason instanceof TimeIsUp)) return reason;
  return waitTimeout(`gave up waiting; run ${runId} goes on`, { hints, data });
}

/** The embedded service ends with the process; its runs are taken up by the next one. */
function laterIfEmbedded({ embedded }: Connection): string[] {
  return embedded ? ['The embedded service takes it up again with the next command.'] : [];
}
