import { xoroshiro128plus } from 'pure-rand/generator/xoroshiro128plus';
import { clampInterval, type Interval, Z_95 } from './interval.ts';
import {
  average,
  computeMeanInterval,
  computeStandardError,
  computeStudentQuantile,
} from './mean.ts';
import { areAllEqual, isAtLeast } from './nearly-equal.ts';
import { type CaseRuns, computePassRate } from './rates.ts';

export type PairedVerdict = 'worse' | 'better' | 'no difference shown';

/** The rates of one case before and after a change. */
export interface CasePair {
  readonly before: CaseRuns;
  readonly after: CaseRuns;
}

/** The change of the mean rate of the same cases, with its certainty. */
export interface PairedDifference {
  readonly verdict: PairedVerdict;
  /** The two-sided p-value: the chance of a difference at least this large if nothing had changed. */
  readonly pValue: number;
  /** The mean rate after the change minus the one before. */
  readonly difference: number;
  readonly interval: Interval;
  /**
   * The smallest difference that this number of pairs would show with 80 % power. If all pairs
   * differ equally, no spread is known, and it is the smallest that they could show at all.
   */
  readonly smallestDetectable: number;
}

/** A difference counts as shown if its p-value is below this. */
const SIGNIFICANCE_LEVEL = 0.05;

/**
 * Fewer pairs can't show any difference: five that all agree occur by chance too often (1 in 16).
 */
export const MIN_PAIRS = 6;

/** Up to this number of pairs, every combination of signs is tried. */
const MAX_EXACT_PAIRS = 16;

/** Number of combinations of signs to try for more pairs. */
const SAMPLE_COUNT = 100_000;

/** Fixed, so that the same reports have the same verdict. */
const SEED = 20_261_123;

/** Number of random bits in a number of the generator. */
const BITS_PER_NUMBER = 32;

/**
 * Compares the rates of cases before and after a change.
 *
 * @param pairs at least one
 */
export function comparePairs(pairs: readonly CasePair[]): PairedDifference {
  const differences = pairs.map(
    ({ before, after }) => computePassRate(after) - computePassRate(before),
  );
  const difference = average(differences);
  const hasRepeats = pairs.some(({ before, after }) => before.runs > 1 || after.runs > 1);
  const pValue = hasRepeats
    ? computeSignFlipPValue(differences)
    : computeMcNemarPValue(differences);

  return {
    verdict: chooseVerdict(pValue, difference),
    pValue,
    difference,
    ...estimatePrecision(differences, difference),
  };
}

function chooseVerdict(pValue: number, difference: number): PairedVerdict {
  if (pValue >= SIGNIFICANCE_LEVEL) return 'no difference shown';
  return difference < 0 ? 'worse' : 'better';
}

function estimatePrecision(
  differences: readonly number[],
  difference: number,
): Pick<PairedDifference, 'interval' | 'smallestDetectable'> {
  const pairCount = differences.length;
  if (areAllEqual(differences)) {
    // As in Wilson's score interval, whose bound is n / (n + z²) if all of n agree.
    const halfWidth = Z_95 ** 2 / (pairCount + Z_95 ** 2);
    return {
      interval: clampInterval([difference - halfWidth, difference + halfWidth], -1, 1),
      // The mean if MIN_PAIRS of the pairs change completely, and the others not at all.
      smallestDetectable: MIN_PAIRS / pairCount,
    };
  }

  const degreesOfFreedom = pairCount - 1;
  const quantiles =
    computeStudentQuantile(0.975, degreesOfFreedom) + computeStudentQuantile(0.8, degreesOfFreedom);
  return {
    interval: clampInterval(computeMeanInterval(differences), -1, 1),
    smallestDetectable: quantiles * computeStandardError(differences),
  };
}

/**
 * Returns the two-sided p-value of the exact test of the changed cases: Q. McNemar, "Note on the sampling
 * error of the difference between correlated proportions", 1947
 * (https://doi.org/10.1007/BF02295996).
 */
function computeMcNemarPValue(differences: readonly number[]): number {
  const betterCount = differences.filter(difference => difference > 0).length;
  const worseCount = differences.filter(difference => difference < 0).length;
  const changedCount = betterCount + worseCount;

  // Terms of the binomial distribution with one half, as logarithms: 2⁻ⁿ alone underflows above a
  // thousand changes.
  let term = -changedCount * Math.LN2;
  let tail = 0;
  for (let k = 0; k <= Math.min(betterCount, worseCount); k++) {
    tail += Math.exp(term);
    term += Math.log((changedCount - k) / (k + 1));
  }

  return Math.min(1, 2 * tail);
}

/**
 * Returns the two-sided p-value of a permutation of signs: E. J. G. Pitman, "Significance tests which may
 * be applied to samples from any populations", 1937 (https://doi.org/10.2307/2984124).
 */
function computeSignFlipPValue(differences: readonly number[]): number {
  const observedSum = Math.abs(differences.reduce((sum, difference) => sum + difference, 0));
  return differences.length <= MAX_EXACT_PAIRS
    ? computeExactPValue(differences, observedSum)
    : computeSampledPValue(differences, observedSum);
}

/**
 * Tries all combinations in the order of a Gray code, in which one sign changes at each step. The
 * last sign stays: the combinations with the other one have the same sums with opposite signs.
 */
function computeExactPValue(differences: readonly number[], observedSum: number): number {
  const combinationCount = 2 ** (differences.length - 1);
  const signedDifferences = [...differences];

  let sum = differences.reduce((total, difference) => total + difference, 0);
  let extremeCount = 0;
  for (let step = 1; step <= combinationCount; step++) {
    if (isAtLeast(Math.abs(sum), observedSum)) extremeCount++;
    const index = Math.min(findLowestBit(step), differences.length - 1);
    sum -= 2 * (signedDifferences[index] ?? 0);
    signedDifferences[index] = -(signedDifferences[index] ?? 0);
  }

  return extremeCount / combinationCount;
}

/** Returns the position of the lowest set bit. */
function findLowestBit(value: number): number {
  return 31 - Math.clz32(value & -value);
}

function computeSampledPValue(differences: readonly number[], observedSum: number): number {
  const changes = Float64Array.from(differences.filter(difference => difference !== 0));
  const random = xoroshiro128plus(SEED);
  let extremeCount = 0;
  for (let draw = 0; draw < SAMPLE_COUNT; draw++) {
    const sum = sumWithRandomSigns(changes, () => random.next());
    if (isAtLeast(Math.abs(sum), observedSum)) extremeCount++;
  }
  return (extremeCount + 1) / (SAMPLE_COUNT + 1);
}

function sumWithRandomSigns(changes: Float64Array, next: () => number): number {
  let sum = 0;
  let signs = 0;
  for (let index = 0; index < changes.length; index++) {
    if (index % BITS_PER_NUMBER === 0) signs = next();
    const change = changes[index] ?? 0;
    sum += signs & 1 ? change : -change;
    signs >>>= 1;
  }

  return sum;
}
