import type { EndedRun, ServedRequest } from '../../core/serving.ts';
import type { Clock } from '../../core/types.ts';
import { oneLine } from '../../terminal/sanitise.ts';

/** A request as one line: time, user, method, path, status, duration. */
export function requestLine(clock: Clock, request: ServedRequest): string {
  const { user, method, path, httpStatus, durationMs } = request;
  return logLine(clock, user, `${method} ${path} ${httpStatus}`, durationMs);
}

/** The end of a run as one line: time, user, id, status, duration. */
export function runLine(clock: Clock, { user, runId, status, durationMs }: EndedRun): string {
  return logLine(clock, user, `run ${runId} ${status}`, durationMs);
}

/** A user who is not known is a dash. */
function logLine(clock: Clock, user: string | undefined, what: string, durationMs: number): string {
  const time = new Date(clock.now()).toISOString();
  return oneLine(`${time} ${user ?? '-'} ${what} ${Math.round(durationMs)}ms`);
}
