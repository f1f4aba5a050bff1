import { usageError } from './errors.ts';

/** Matches an age such as `90s` or `4w`. */
const AGE = /^(\d+)(s|m|h|d|w)$/u;
const SECONDS_PER_UNIT = { s: 1, m: 60, h: 3600, d: 86_400, w: 604_800 } as const;

/** Matches `2026-05-01`, and with a time as in `2026-05-01T12:00Z` or `2026-05-01 12:00:00,5`. */
const ISO_8601 =
  /^\d{4}-\d{2}-\d{2}([T ]\d{2}:\d{2}(:\d{2}([.,]\d+)?)?(Z|[+-]\d{2}(:?\d{2})?)?)?$/iu;

/** Unix seconds reach this in the year 5138, so a larger number was meant as milliseconds. */
const MAX_TIME_SECONDS = 100_000_000_000;

/** A period in Unix seconds, rounded outwards, so that it includes every requested run. */
export interface Period {
  readonly since?: number;
  readonly until?: number;
}

/**
 * Parses the flags `--since` and `--until`.
 *
 * @param now milliseconds since the Unix epoch
 * @throws {CliError} USAGE_ERROR that names the flag, also if the period has no length
 */
export function parsePeriod(
  flags: { readonly since?: string | undefined; readonly until?: string | undefined },
  now: number,
): Period {
  const since = flags.since === undefined ? undefined : parseTime(flags.since, '--since', now);
  const until = flags.until === undefined ? undefined : parseTime(flags.until, '--until', now);
  if (since !== undefined && until !== undefined && since >= until) {
    throw usageError(
      `--since (${formatIsoSeconds(since)}) must be earlier than --until (${formatIsoSeconds(until)})`,
    );
  }

  return {
    ...(since !== undefined && { since: Math.floor(since) }),
    ...(until !== undefined && { until: Math.ceil(until) }),
  };
}

/**
 * Parses Unix seconds, ISO 8601 or an age such as `2h` to Unix seconds, with their fraction. An age
 * that reaches back before 1970 is the time 0.
 */
function parseTime(text: string, flag: string, now: number): number {
  const age = AGE.exec(text);
  if (age !== null) {
    const ageSeconds = Number(age[1]) * SECONDS_PER_UNIT[age[2] as keyof typeof SECONDS_PER_UNIT];
    return Math.max(0, now / 1000 - ageSeconds);
  }

  if (/^\d+$/u.test(text)) return requireUnixSeconds(Number(text), text, flag);

  const time = isIsoTime(text) ? Date.parse(text.replace(' ', 'T').replace(',', '.')) : Number.NaN;
  if (Number.isNaN(time)) {
    throw usageError(
      `${flag}: ${JSON.stringify(text)} is not a time`,
      'Give Unix seconds, ISO 8601 (2026-05-01T12:00:00Z) or an age such as 90s, 30m, 2h, 7d, 4w.',
    );
  }

  return time / 1000;
}

function formatIsoSeconds(seconds: number): string {
  return new Date(seconds * 1000).toISOString();
}

/**
 * Returns true for ISO 8601 with an existing day: `Date.parse` reads 30 February as a day in March.
 */
function isIsoTime(text: string): boolean {
  const day = text.slice(0, 'yyyy-mm-dd'.length);
  const time = ISO_8601.test(text) ? Date.parse(day) : Number.NaN;
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(day);
}

function requireUnixSeconds(seconds: number, text: string, flag: string): number {
  if (seconds < MAX_TIME_SECONDS) return seconds;
  throw usageError(
    `${flag}: ${text} is too large for Unix seconds`,
    `Did you mean ${Math.floor(seconds / 1000)}? Divide milliseconds by 1000.`,
  );
}
