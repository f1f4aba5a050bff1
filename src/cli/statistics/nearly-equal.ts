/**
 * Values closer than this are equal, because sums of decimal fractions differ in their last digits.
 */
const TOLERANCE = 1e-9;

export function areAllEqual(values: readonly number[]): boolean {
  return values.every(value => Math.abs(value - (values[0] ?? value)) < TOLERANCE);
}

/** Returns true if a value is greater than or, up to rounding, equal to the minimum. */
export function isAtLeast(value: number, minimum: number): boolean {
  return value > minimum - TOLERANCE;
}
