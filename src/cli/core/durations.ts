import { MAX_TIMER_MS, parseDurationMs } from '../../utils/duration.ts';
import { usageError } from './errors.ts';
import { pluralize } from './pluralize.ts';

/**
 * Parses a duration such as `90s`, `10m`, `1h30m` or `500ms` to milliseconds.
 *
 * @param source the flag or variable, for the message
 * @throws {CliError} USAGE_ERROR
 */
export function parseDuration(text: string, source: string): number {
  const ms = parseDurationMs(text);
  if (ms === undefined) {
    throw usageError(`${source}: '${text}' is not a duration`, 'Write it like 90s, 10m or 1h.');
  }
  if (ms > MAX_TIMER_MS) throw usageError(`${source}: '${text}' is longer than 24 days`);
  return ms;
}

/** The units of ages, the largest first. */
const AGE_UNITS: readonly (readonly [seconds: number, name: string])[] = [
  [365 * 86_400, 'year'],
  [30 * 86_400, 'month'],
  [86_400, 'day'],
  [3600, 'hour'],
  [60, 'minute'],
];

/** Formats the age of a time in milliseconds; a time in the future counts as now. */
export function formatAge(time: number, now: number): string {
  const ageSeconds = Math.floor((now - time) / 1000);
  const largestUnit = AGE_UNITS.find(([seconds]) => ageSeconds >= seconds);
  if (largestUnit === undefined) return 'just now';
  const [unitSeconds, unitName] = largestUnit;
  return `${pluralize(Math.floor(ageSeconds / unitSeconds), unitName)} ago`;
}

/** Formats the age of an ISO 8601 time; a text that is not a time is returned unchanged. */
export function formatIsoAge(iso: string, now: number): string {
  const time = Date.parse(iso);
  return Number.isNaN(time) ? iso : formatAge(time, now);
}
