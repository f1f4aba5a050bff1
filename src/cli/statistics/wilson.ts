import { cutTo, type Interval, Z_95 } from './interval.ts';

/**
 * Returns the 95 % score interval of a rate: E. B. Wilson, "Probable inference, the law of succession, and statistical
 * inference", 1927 (https://doi.org/10.1080/01621459.1927.10502953).
 *
 * @param rate from 0 to 1
 * @param trials at least 1
 */
export function wilsonInterval(rate: number, trials: number): Interval {
  const z2 = Z_95 ** 2;
  const middle = (rate + z2 / (2 * trials)) / (1 + z2 / trials);
  const reach =
    (Z_95 / (1 + z2 / trials)) * Math.sqrt((rate * (1 - rate)) / trials + z2 / (4 * trials * trials));
  return cutTo([rate === 0 ? 0 : middle - reach, rate === 1 ? 1 : middle + reach], 0, 1);
}
