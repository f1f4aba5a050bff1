import type { Tally } from './tally.ts';

const MINUTE_S = 60;
const HOUR_S = 3600;

/** How far a batch is, in one line: done, failed, rate and time left. */
export function progressText(tally: Tally, elapsedMs: number): string {
  const of = tally.total === undefined ? '' : ` of ${tally.total}`;
  const left = timeLeft(tally, elapsedMs);
  return [
    `${tally.done}${of} done`,
    `${tally.unsuccessful} failed`,
    ...(tally.ended === 0 ? [] : [rateText(tally.ended / (elapsedMs / 1000))]),
    ...(left === undefined ? [] : [`${durationText(left)} left`]),
  ].join(', ');
}

/** In milliseconds; undefined while there is nothing to estimate it from. */
function timeLeft(tally: Tally, elapsedMs: number): number | undefined {
  if (tally.total === undefined || tally.ended === 0) return undefined;
  return (elapsedMs / tally.ended) * Math.max(0, tally.total - tally.done);
}

/** Rows a second, or a minute where that says more. */
export function rateText(perSecond: number): string {
  if (!Number.isFinite(perSecond)) return '0/s';
  return perSecond < 0.95 ? `${oneDigit(perSecond * MINUTE_S)}/min` : `${oneDigit(perSecond)}/s`;
}

function oneDigit(value: number): string {
  return value >= 9.95 ? String(Math.round(value)) : value.toFixed(1);
}

/** As `45s`, `2m 05s`, `3h 10m`. */
export function durationText(ms: number): string {
  const seconds = Math.round(ms / 1000);
  const two = (value: number): string => String(value).padStart(2, '0');
  if (seconds < MINUTE_S) return `${seconds}s`;
  if (seconds < HOUR_S) return `${Math.floor(seconds / MINUTE_S)}m ${two(seconds % MINUTE_S)}s`;
  return `${Math.floor(seconds / HOUR_S)}h ${two(Math.floor((seconds % HOUR_S) / MINUTE_S))}m`;
}

const BAR_WIDTH = 20;
/** Columns that the spinner takes before a text. */
const SPINNER_WIDTH = 2;

/** A bar and how far the batch is, on one line of a terminal. */
export function barText(tally: Tally, elapsedMs: number, columns: number): string {
  const share = tally.total === undefined ? 0 : tally.done / Math.max(tally.total, 1);
  const filled = Math.round(share * BAR_WIDTH);
  const bar = '█'.repeat(filled) + '░'.repeat(BAR_WIDTH - filled);
  const text = progressText(tally, elapsedMs);
  const most = columns - SPINNER_WIDTH - 1;
  return `${bar} ${text}`.length <= most ? `${bar} ${text}` : text.slice(0, most);
}
