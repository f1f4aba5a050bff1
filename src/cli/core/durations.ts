import { MAX_TIMER_MS, parseDurationMs } from '../../utils/duration.ts';
import { usageError } from './errors.ts';
import { pluralize } from './pluralize.ts';

/**
 * Parses a duration such as `90s`, `10m`, `1h30m` or `500ms` to milliseconds.
 *
 * @param where the flag or variable, for the message
 * @throws {CliError} USAGE_ERROR
 */
export function parseDuration(text: string, where: string): number {
  const ms = parseDurationMs(text);
  if (ms === undefined) {
    throw usageError(`${where}: '${text}' is not a duration`, 'Write it like 90s, 10m or 1h.');
  }
  if (ms > MAX_TIMER_MS) throw usageError(`${where}: '${text}' is longer than 24 days`);
  return ms;
}

const AGE_UNITS: readonly (readonly [seconds: number, unit: string])[] = [
  [365 * 86_400, 'year'],
  [30 * 86_400, 'month'],
  [86_400, 'day'],
  [3600, 'hour'],
  [60, 'minute'],
];

/** Formats an age; a time in the future counts as now. Times are in milliseconds. */
export function formatAge(then: number, now: number): string {
  const seconds = Math.floor((now - then) / 1000);
  const step = AGE_UNITS.find(([length]) => seconds >= length);
  if (step === undefined) return 'just now';
  const count = Math.floor(seconds / step[0]);
  return `${pluralize(count, step[1])} ago`;
}

/** Formats the age of an ISO 8601 time; a text that is not a time is returned unchanged. */
export function formatIsoAge(iso: string, now: number): string {
  const then = Date.parse(iso);
  return Number.isNaN(then) ? iso : formatAge(then, now);
}
