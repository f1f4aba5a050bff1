import { messageOf } from '../../files/error-utils.ts';
import type { Clock } from './clock.ts';

/** How long the same fault is not reported again, in milliseconds. */
const QUIET_MS = 60_000;

/** Reports faults in one line each; one that goes on and on is reported once a minute. */
export function faultReporter(onNotice: (line: string) => void, clock: Clock): (error: unknown) => void {
  const reportedAt = new Map<string, number>();
  return error => {
    const message = messageOf(error);
    const last = reportedAt.get(message);
    if (last !== undefined && clock.now() - last < QUIET_MS) return;
    if (reportedAt.size > 100) reportedAt.clear();
    reportedAt.set(message, clock.now());
    onNotice(`fault: ${message}`);
  };
}
