import type { RunRow } from '../../wire/index.ts';
import type { Clock } from '../core/types.ts';
import { type CliError, Interrupted, waitTimeout } from '../errors.ts';
import { shellWord } from '../terminal/shell-word.ts';
import { describeCandidates } from './in-doubt.ts';

/** Why a wait was given up: its time was over. */
export class TimeIsUp extends Error {
  override readonly name = 'TimeIsUp';
}

/** The time a command may wait, from now on. */
export interface Deadline {
  /** Aborted with a `TimeIsUp` once the time is over, or with the outer signal's reason. */
  readonly signal: AbortSignal;
  /** In milliseconds; undefined where there is no limit. */
  readonly remainingMs: () => number | undefined;
  /** Stops the timer. */
  stop(): void;
}

export function startDeadline(clock: Clock, timeoutMs: number | undefined, outer: AbortSignal): Deadline {
  if (timeoutMs === undefined) return { signal: outer, remainingMs: () => undefined, stop: () => {} };
  const startedAt = clock.now();
  const over = new AbortController();
  const stopped = new AbortController();
  clock.sleep(timeoutMs, AbortSignal.any([stopped.signal, outer])).then(
    () => over.abort(new TimeIsUp()),
    () => {},
  );
  return {
    signal: AbortSignal.any([outer, over.signal]),
    remainingMs: () => Math.max(0, timeoutMs - (clock.now() - startedAt)),
    stop: () => stopped.abort(),
  };
}

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
