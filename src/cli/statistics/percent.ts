import type { Interval } from './interval.ts';

/** Returns a share as a percentage of at most two digits behind the point, such as `92.5 %`. */
export function percentText(share: number): string {
  return `${Number((share * 100).toFixed(2))} %`;
}

/** Returns an interval in whole percent, such as `40–89 %`. */
export function intervalText([low, high]: Interval): string {
  return `${Math.round(low * 100)}–${Math.round(high * 100)} %`;
}

/** Returns passed runs with the interval of their rate, such as `7 of 10 (40–89 %)`. */
export function rateText(passed: number, runs: number, interval: Interval): string {
  return `${passed} of ${runs} (${intervalText(interval)})`;
}
