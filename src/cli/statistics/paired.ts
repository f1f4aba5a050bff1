import { xoroshiro128plus } from 'pure-rand/generator/xoroshiro128plus';
import { clampInterval, type Interval, Z_95 } from './interval.ts';
import { average, meanInterval, standardError, studentQuantile } from './mean.ts';
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
  /** The two-sided p: the chance of a difference at least this large if nothing had changed. */
  readonly p: number;
  /** The mean rate after the change minus the one before. */
  readonly difference: number;
  readonly interval: Interval;
  /**
   * The smallest difference that this number of pairs would show with 80 % power; if all differ
   * alike, the smallest that they could show at all.
   */
  readonly smallest: number;
}

/** A difference counts as shown if p is below this. */
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

/** Compares the rates of cases before and after a change. @param pairs at least one */
export function comparePairs(pairs: readonly CasePair[]): PairedDifference {
  const differences = pairs.map(
    ({ before, after }) => computePassRate(after) - computePassRate(before),
  );
  const difference = average(differences);
  const hasRepeats = pairs.some(({ before, after }) => before.runs > 1 || after.runs > 1);
  const p = hasRepeats ? signFlipP(differences) : mcNemarP(differences);

  return {
    verdict: reachVerdict(p, difference),
    p,
    difference,
    ...estimatePrecision(differences, difference),
  };
}

function reachVerdict(p: number, difference: number): PairedDifference['verdict'] {
  if (p >= SIGNIFICANCE_LEVEL) return 'no difference shown';
  return difference < 0 ? 'worse' : 'better';
}

function estimatePrecision(
  differences: readonly number[],
  difference: number,
): Pick<PairedDifference, 'interval' | 'smallest'> {
  const pairs = differences.length;
  if (areAllEqual(differences)) {
    // As in Wilson's score interval, whose bound is n / (n + z²) if all of n agree.
    const reach = Z_95 ** 2 / (pairs + Z_95 ** 2);
    return {
      interval: clampInterval([difference - reach, difference + reach], -1, 1),
      smallest: MIN_PAIRS / pairs,
    };
  }

  const quantiles = studentQuantile(0.975, pairs - 1) + studentQuantile(0.8, pairs - 1);
  return {
    interval: clampInterval(meanInterval(differences), -1, 1),
    smallest: quantiles * standardError(differences),
  };
}

/**
 * Returns the two-sided p of the exact test on what changed: Q. McNemar, "Note on the sampling
 * error of the difference between correlated proportions", 1947
 * (https://doi.org/10.1007/BF02295996).
 */
function mcNemarP(differences: readonly number[]): number {
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
 * Returns the two-sided p of a permutation of signs: E. J. G. Pitman, "Significance tests which may
 * be applied to samples from any populations", 1937 (https://doi.org/10.2307/2984124).
 */
function signFlipP(differences: readonly number[]): number {
  const observed = Math.abs(differences.reduce((sum, difference) => sum + difference, 0));
  return differences.length <= MAX_EXACT_PAIRS
    ? exactP(differences, observed)
    : sampledP(differences, observed);
}

/**
 * Tries all combinations in the order of a Gray code, in which one sign changes at each step. The
 * last sign stays: its other half has the same sums with the opposite signs.
 */
function exactP(differences: readonly number[], observedSum: number): number {
  const combinationCount = 2 ** (differences.length - 1);
  const signedDifferences = [...differences];

  let sum = differences.reduce((total, difference) => total + difference, 0);
  let hits = 0;
  for (let step = 1; step <= combinationCount; step++) {
    if (isAtLeast(Math.abs(sum), observedSum)) hits++;
    const index = Math.min(lowestBit(step), differences.length - 1);
    sum -= 2 * (signedDifferences[index] ?? 0);
    signedDifferences[index] = -(signedDifferences[index] ?? 0);
  }

  return hits / combinationCount;
}

/** Returns the position of the lowest set bit. */
function lowestBit(value: number): number {
  return 31 - Math.clz32(value & -value);
}

function sampledP(differences: readonly number[], observedSum: number): number {
  const changes = Float64Array.from(differences.filter(difference => difference !== 0));
  const random = xoroshiro128plus(SEED);
  let hits = 0;
  for (let draw = 0; draw < SAMPLE_COUNT; draw++) {
    const sum = sumWithRandomSigns(changes, () => random.next());
    if (isAtLeast(Math.abs(sum), observedSum)) hits++;
  }
  return (hits + 1) / (SAMPLE_COUNT + 1);
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
