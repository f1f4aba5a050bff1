import type { Clock } from './clock.ts';

/** Minimum time between two reports of the same line, in milliseconds. */
const MIN_REPEAT_INTERVAL_MS = 60_000;

const MAX_REMEMBERED_LINES = 100;

/** Passes each line on at most once a minute. */
export function createNoticeLimiter(
  onNotice: (line: string) => void,
  clock: Clock,
): (line: string) => void {
  const reportTimes = new Map<string, number>();
  return line => {
    const now = clock.now();
    const reportedAt = reportTimes.get(line);
    if (reportedAt !== undefined && Math.abs(now - reportedAt) < MIN_REPEAT_INTERVAL_MS) return;
    if (reportTimes.size >= MAX_REMEMBERED_LINES) reportTimes.clear();
    reportTimes.set(line, now);
    onNotice(line);
  };
}
