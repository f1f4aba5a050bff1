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
const HALVING_COUNT = 60;

/** The limit of `countFurtherRunsNeeded`: more answers than anyone would wait for. */
export const MAX_FURTHER_RUNS = 10_000;

/** Returns true if the answers rule out that the true rate equals the required one. */
export function isDecided(requiredRate: number, passedRuns: number, runs: number): boolean {
  return requiredRate === 0 ? runs > 0 : isRuledOut(requiredRate, passedRuns, runs);
}

/** Returns the interval of rates that are not ruled out, which is valid at any stopping time. */
export function computeSequenceInterval(passedRuns: number, runs: number): Interval {
  const observedRate = passedRuns / runs;
  const isOutside = (rate: number) => isRuledOut(rate, passedRuns, runs);
  const low = isOutside(0) ? findEdge(0, observedRate, isOutside) : 0;
  const high = isOutside(1) ? findEdge(1, observedRate, isOutside) : 1;
  return [low, high];
}

/** Returns the highest rate that this number of answers can prove if all are good. */
export function computeHighestProvableRate(runs: number): number {
  return Math.exp(-(LOG_EVIDENCE_THRESHOLD + Math.log(runs + 1)) / runs);
}

/** Returns how many good answers prove a rate. No number of them proves a rate of 1: Infinity. */
export function countGoodRunsNeeded(requiredRate: number): number {
  if (requiredRate === 1) return Number.POSITIVE_INFINITY;
  return findFirst(runs => isDecided(requiredRate, runs, runs));
}

/**
 * Returns how many more answers would probably decide the case at the observed rate.
 *
 * @returns undefined if it would be more than `MAX_FURTHER_RUNS`
 */
export function countFurtherRunsNeeded(
  requiredRate: number,
  passedRuns: number,
  runs: number,
): number | undefined {
  const isDecidedAfter = (further: number) => {
    const totalRuns = runs + further;
    return isDecided(requiredRate, (passedRuns / runs) * totalRuns, totalRuns);
  };
  if (!isDecidedAfter(MAX_FURTHER_RUNS)) return undefined;
  return findFirst(isDecidedAfter);
}

function isRuledOut(rate: number, passedRuns: number, runs: number): boolean {
  return computeLogEvidence(rate, passedRuns, runs) >= LOG_EVIDENCE_THRESHOLD;
}

/** Finds the edge of an interval between a rate outside and one inside, by halving. */
function findEdge(outside: number, inside: number, isOutside: (rate: number) => boolean): number {
  let [outer, inner] = [outside, inside];
  for (let step = 0; step < HALVING_COUNT; step++) {
    const middle = (outer + inner) / 2;
    if (isOutside(middle)) {
      outer = middle;
    } else {
      inner = middle;
    }
  }
  return inner;
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
