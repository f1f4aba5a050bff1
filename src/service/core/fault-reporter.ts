import { messageOf } from '../../files/error-utils.ts';
import type { Clock } from './clock.ts';

/** Minimum time between two reports of the same line, in milliseconds. */
const QUIET_MS = 60_000;

/** Reports each fault in one line; a persistent fault is reported once a minute. */
export function faultReporter(onNotice: (line: string) => void, clock: Clock): (error: unknown) => void {
  const report = onceAMinute(onNotice, clock);
  return error => report(`fault: ${messageOf(error)}`);
}

/** Passes each line on at most once a minute. */
export function onceAMinute(onNotice: (line: string) => void, clock: Clock): (line: string) => void {
  const reportedAt = new Map<string, number>();
  return line => {
    const last = reportedAt.get(line);
    if (last !== undefined && clock.now() - last < QUIET_MS) return;
    if (reportedAt.size > 100) reportedAt.clear();
    reportedAt.set(line, clock.now());
    onNotice(line);
  };
}
