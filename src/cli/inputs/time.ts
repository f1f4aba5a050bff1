import { usageError } from '../errors.ts';

const AGE = /^(\d+)(s|m|h|d|w)$/u;
const SECONDS = { s: 1, m: 60, h: 3600, d: 86_400, w: 604_800 } as const;
const ISO_8601 = /^\d{4}-\d{2}-\d{2}([T ]\d{2}:\d{2}(:\d{2}([.,]\d+)?)?(Z|[+-]\d{2}(:?\d{2})?)?)?$/iu;
// Unix seconds reach this in the year 5138, so a larger number was meant as milliseconds.
const MAX_SECONDS = 100_000_000_000;

/**
 * Parses a time to Unix seconds, from Unix seconds, ISO 8601 or an age such as `2h`.
 *
 * @param now milliseconds since the Unix epoch
 * @param round the direction in which fractions of a second are rounded, so that no requested row is left out
 * @throws {CliError} USAGE_ERROR that names the flag
 */
export function parseTime(text: string, flag: string, now: number, round: 'down' | 'up'): number {
  const whole = round === 'down' ? Math.floor : Math.ceil;
  const age = AGE.exec(text);
  if (age !== null) return whole(now / 1000 - Number(age[1]) * SECONDS[age[2] as keyof typeof SECONDS]);
  if (/^\d+$/u.test(text)) return unixSeconds(Number(text), text, flag);
  const time = isDate(text) ? Date.parse(text.replace(' ', 'T').replace(',', '.')) : Number.NaN;
  if (Number.isNaN(time)) {
    throw usageError(
      `${flag}: ${JSON.stringify(text)} is not a time`,
      'Give Unix seconds, ISO 8601 (2026-05-01T12:00:00Z) or an age such as 90s, 30m, 2h, 7d, 4w.',
    );
  }
  return whole(time / 1000);
}

/** Returns true for ISO 8601 with an existing day: `Date.parse` reads 30 February as a day in March. */
function isDate(text: string): boolean {
  const day = text.slice(0, 'yyyy-mm-dd'.length);
  const time = ISO_8601.test(text) ? Date.parse(day) : Number.NaN;
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(day);
}

function unixSeconds(seconds: number, text: string, flag: string): number {
  if (seconds < MAX_SECONDS) return seconds;
  throw usageError(
    `${flag}: ${text} is too large for Unix seconds`,
    `Did you mean ${Math.floor(seconds / 1000)}? Divide milliseconds by 1000.`,
  );
}
