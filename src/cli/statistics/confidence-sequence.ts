import jStat from 'jstat';
import type { Interval } from './interval.ts';

// Robbins' mixture with a uniform prior over the rate: a test that may be looked at after each
// answer. S. R. Howard et al., "Time-uniform, nonparametric, nonasymptotic confidence sequences",
// 2021 (https://doi.org/10.1214/20-AOS1991).

/**
 * A rate is ruled out once the evidence against it is this strong, which happens to at most one
 * true rate in twenty.
 */
const LOG_EVIDENCE_THRESHOLD = Math.log(20);

/** Number of halvings after which a rate no longer changes, given the precision of doubles. */
const HALVINGS = 60;

/** More answers than anyone would wait for. */
export const MAX_FURTHER_RUNS = 10_000;

/**
 * Returns the logarithm of the evidence against a true rate r, in either direction: of
 * 1/((n+1)·C(n,s)·rˢ·(1−r)ⁿ⁻ˢ) for s of n answers.
 *
 * @param passedRuns the number of passed answers; may be a fraction, for an expected number
 */
function computeLogEvidence(rate: number, passedRuns: number, runs: number): number {
  return (
    -Math.log(runs + 1) -
    computeLogChoices(runs, passedRuns) -
    computeLogPower(rate, passedRuns) -
    computeLogPower(1 - rate, runs - passedRuns)
  );
}

/** Returns the logarithm of base to the power of exponent; 0⁰ is 1. */
function computeLogPower(base: number, exponent: number): number {
  return exponent === 0 ? 0 : exponent * Math.log(base);
}

/** Returns the logarithm of the number of ways to choose k of n. */
function computeLogChoices(n: number, k: number): number {
  return jStat.gammaln(n + 1) - jStat.gammaln(k + 1) - jStat.gammaln(n - k + 1);
}

/** Returns true if the answers rule out that the true rate equals the required one. */
export function isDecided(required: number, passedRuns: number, runs: number): boolean {
  return required === 0
    ? runs > 0
    : computeLogEvidence(required, passedRuns, runs) >= LOG_EVIDENCE_THRESHOLD;
}

/** Returns the interval of rates that are not ruled out, which is valid at any stopping time. */
export function computeSequenceInterval(passedRuns: number, runs: number): Interval {
  const observed = passedRuns / runs;
  const isRuledOut = (rate: number) =>
    computeLogEvidence(rate, passedRuns, runs) >= LOG_EVIDENCE_THRESHOLD;
  const low = isRuledOut(0) ? findEdge(0, observed, isRuledOut) : 0;
  const high = isRuledOut(1) ? findEdge(1, observed, isRuledOut) : 1;
  return [low, high];
}

/** Finds the edge between a rate that is ruled out and one that is not, by halving. */
function findEdge(outside: number, inside: number, isRuledOut: (rate: number) => boolean): number {
  let [outer, inner] = [outside, inside];
  for (let step = 0; step < HALVINGS; step++) {
    const middle = (outer + inner) / 2;
    if (isRuledOut(middle)) {
      outer = middle;
    } else {
      inner = middle;
    }
  }
  return inner;
}

/** Returns the highest rate that this number of answers can prove if all are good. */
export function computeHighestReachable(runs: number): number {
  return Math.exp(-(LOG_EVIDENCE_THRESHOLD + Math.log(runs + 1)) / runs);
}

/** Returns how many good answers prove a rate; Infinity for a rate of 1. */
export function countGoodRunsNeeded(required: number): number {
  if (required === 1) return Number.POSITIVE_INFINITY;
  return findFirst(runs => isDecided(required, runs, runs));
}

/**
 * Returns how many more answers would probably decide the case at the observed rate.
 *
 * @returns undefined if it would be more than `MAX_FURTHER_RUNS`
 */
export function countFurtherRunsNeeded(
  required: number,
  passedRuns: number,
  runs: number,
): number | undefined {
  const isDecidedAfter = (further: number) => {
    const totalRuns = runs + further;
    return isDecided(required, (passedRuns / runs) * totalRuns, totalRuns);
  };
  if (!isDecidedAfter(MAX_FURTHER_RUNS)) return undefined;
  return findFirst(isDecidedAfter);
}

/** Returns the first number from 1 that is enough; every larger one has to be enough too. */
function findFirst(isEnough: (value: number) => boolean): number {
  let high = 1;
  while (!isEnough(high)) high *= 2;

  let low = Math.floor(high / 2);
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (isEnough(middle)) {
      high = middle;
    } else {
      low = middle;
    }
  }

  return high;
}
