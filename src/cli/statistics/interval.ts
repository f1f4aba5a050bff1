/** The low and the high end of a range that probably holds a true value. */
export type Interval = readonly [low: number, high: number];

/** The 97.5 % quantile of the normal distribution: how many standard errors a 95 % interval reaches to each side. */
export const Z_95 = 1.959963984540054;

/** Cuts an interval to what is possible. */
export function cutTo([low, high]: Interval, least: number, most: number): Interval {
  return [Math.max(least, low), Math.min(most, high)];
}
