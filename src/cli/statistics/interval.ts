/** The ends of a range that probably contains the true value. */
export type Interval = readonly [low: number, high: number];

/**
 * The 97.5 % quantile of the normal distribution: half the width of a 95 % interval in standard
 * errors.
 */
export const Z_95 = 1.959963984540054;

/** Limits an interval to possible values. */
export function clampInterval([low, high]: Interval, min: number, max: number): Interval {
  return [Math.max(min, low), Math.min(max, high)];
}

/**
 * Returns the 95 % score interval of a rate: E. B. Wilson, "Probable inference, the law of
 * succession, and statistical inference", 1927 (https://doi.org/10.1080/01621459.1927.10502953).
 *
 * @param rate from 0 to 1
 * @param trials at least 1
 */
export function computeWilsonInterval(rate: number, trials: number): Interval {
  const zSquared = Z_95 ** 2;
  const middle = (rate + zSquared / (2 * trials)) / (1 + zSquared / trials);
  const halfWidth =
    (Z_95 / (1 + zSquared / trials)) *
    Math.sqrt((rate * (1 - rate)) / trials + zSquared / (4 * trials * trials));
  const low = rate === 0 ? 0 : middle - halfWidth;
  const high = rate === 1 ? 1 : middle + halfWidth;
  return clampInterval([low, high], 0, 1);
}

/** Formats a share as a percentage with at most two decimals, such as `92.5 %`. */
export function formatPercent(share: number): string {
  return `${Number((share * 100).toFixed(2))} %`;
}

/** Formats an interval in whole percent, such as `40–89 %`. */
export function formatInterval([low, high]: Interval): string {
  return `${Math.round(low * 100)}–${Math.round(high * 100)} %`;
}

/** Formats passed runs with the interval of their rate, such as `7 of 10 (40–89 %)`. */
export function formatPassRate(passedRuns: number, runs: number, interval: Interval): string {
  return `${passedRuns} of ${runs} (${formatInterval(interval)})`;
}
