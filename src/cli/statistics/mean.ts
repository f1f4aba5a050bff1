import jStat from 'jstat';
import type { Interval } from './interval.ts';

export function average(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

/** Returns the standard error of the mean of at least two values. */
export function computeStandardError(values: readonly number[]): number {
  const mean = average(values);
  const squaredDeviations = values.reduce((sum, value) => sum + (value - mean) ** 2, 0);
  return Math.sqrt(squaredDeviations / (values.length - 1) / values.length);
}

/**
 * Returns the 95 % interval of a mean by Student's t: "The probable error of a mean", 1908
 * (https://doi.org/10.2307/2331554).
 *
 * @param values at least two
 */
export function computeMeanInterval(values: readonly number[]): Interval {
  const mean = average(values);
  const halfWidth = computeStudentQuantile(0.975, values.length - 1) * computeStandardError(values);
  return [mean - halfWidth, mean + halfWidth];
}

export function computeStudentQuantile(probability: number, degreesOfFreedom: number): number {
  return jStat.studentt.inv(probability, degreesOfFreedom);
}
