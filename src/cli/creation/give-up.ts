import type { RunRow } from '../../wire/index.ts';
import { type CliError, Interrupted, waitTimeout } from '../errors.ts';
import { shellWord } from '../terminal/shell-word.ts';
import { describeCandidates } from './in-doubt.ts';

const LATER_HINT = 'Look for it with: promptrun runs wait --last';

/** Ctrl-C or SIGTERM before the creation was answered. */
export function interruptedCreation(reason: unknown, sent: boolean, embedded: boolean): unknown {
  if (!(reason instanceof Interrupted)) return reason;
  if (!sent) {
    return new Interrupted(reason.signal, [], { message: 'no run was started', data: { started: false } });
  }
  const hints = [...laterIfEmbedded(embedded), 'Get it with: promptrun runs wait --last'];
  return new Interrupted(reason.signal, hints, { message: 'a run may have been started and may go on' });
}

/** Ctrl-C or SIGTERM while a run is waited for. */
export function interruptedWait(reason: unknown, runId: string, embedded: boolean): unknown {
  if (!(reason instanceof Interrupted)) return reason;
  const hints = [...laterIfEmbedded(embedded), `Get it with: promptrun runs wait ${shellWord(runId)}`];
  return new Interrupted(reason.signal, hints, { message: `run ${runId} goes on`, data: { runId } });
}

/** The time was over before any of the creation was sent. */
export function timedOutUnsent(): CliError {
  return waitTimeout('gave up waiting; no run was started', {
    hints: ['Allow more time with --timeout.'],
    data: { started: false },
  });
}

/** The time was over before the creation was answered, and its run was not found. */
export function timedOutCreation(candidates: readonly RunRow[]): CliError {
  return waitTimeout('gave up waiting; the creation has not been answered, a run may go on', {
    hints: [...describeCandidates(candidates), LATER_HINT],
  });
}

/** The time was over while a run was waited for. */
export function timedOutWait(runId: string): CliError {
  return waitTimeout(`gave up waiting; run ${runId} goes on`, {
    hints: [`Get it with: promptrun runs wait ${shellWord(runId)}`],
    data: { runId },
  });
}

/** The embedded service ends with the process; its runs are taken up by the next one. */
function laterIfEmbedded(embedded: boolean): string[] {
  return embedded ? ['The embedded service takes it up again with the next command.'] : [];
}
