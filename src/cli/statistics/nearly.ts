/** Sums of decimal fractions differ in their last digits: values nearer than this are equal. */
const NEARLY = 1e-9;

export function areAllEqual(values: readonly number[]): boolean {
  return values.every(value => Math.abs(value - (values[0] ?? value)) < NEARLY);
}

/** Returns true for a value that is greater, or the same but for rounding. */
export function isAtLeast(value: number, other: number): boolean {
  return value > other - NEARLY;
}
