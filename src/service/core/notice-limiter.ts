import type { Clock } from './clock.ts';

/** Minimum time between two reports of the same line, in milliseconds. */
const QUIET_MS = 60_000;

const MAX_REMEMBERED_LINES = 100;

/** Passes each line on at most once a minute. */
export function createNoticeLimiter(
  onNotice: (line: string) => void,
  clock: Clock,
): (line: string) => void {
  const reportedAt = new Map<string, number>();
  return line => {
    const last = reportedAt.get(line);
    if (last !== undefined && Math.abs(clock.now() - last) < QUIET_MS) return;
    if (reportedAt.size > MAX_REMEMBERED_LINES) reportedAt.clear();
    reportedAt.set(line, clock.now());
    onNotice(line);
  };
}
