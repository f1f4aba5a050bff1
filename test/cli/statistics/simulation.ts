import { uniformFloat64 } from 'pure-rand/distribution/uniformFloat64';
import { xoroshiro128plus } from 'pure-rand/generator/xoroshiro128plus';
import { isDecided } from '../../../src/cli/statistics/confidence-sequence.ts';
import { computeWilsonInterval, type Interval } from '../../../src/cli/statistics/interval.ts';
import { type CasePair, comparePairs } from '../../../src/cli/statistics/paired.ts';
import { type CaseRuns, summarizeRates } from '../../../src/cli/statistics/rates.ts';

const TRIAL_COUNT = 2000;

/** The true mean of cases whose rates differ. */
const MEAN_RATE = 0.7;

/** Models with a known rate, asked again and again; the same seed gives the same answers. */
export class Simulation {
  readonly #random;

  constructor(seed: number) {
    this.#random = xoroshiro128plus(seed);
  }

  /**
   * Returns the share of Wilson intervals that contain the true rate, which is drawn for each trial
   * by default.
   */
  measureWilsonCoverage(runs: number, rate?: number): number {
    return this.#measureShare(() => {
      const truth = rate ?? this.#drawUniform();
      return contains(
        computeWilsonInterval(this.#drawCase(runs, truth).passed / runs, runs),
        truth,
      );
    });
  }

  /**
   * Returns the share of intervals of the mean over cases that contain the true mean. Each case has
   * its own rate around that mean.
   */
  measureMeanCoverage(cases: number, runs: number): number {
    return this.#measureShare(() => {
      const summary = summarizeRates(
        this.#repeat(cases, () => this.#drawCase(runs, this.#drawRateAround(MEAN_RATE))),
      );
      return summary !== undefined && contains(summary.interval, MEAN_RATE);
    });
  }

  /** Returns the share of trials in which none of the first 200 answers rules out the true rate. */
  measureSequenceCoverage(rate: number): number {
    const isOutside = createDecision(rate);
    return this.#measureShare(() => {
      let passed = 0;
      for (let runs = 1; runs <= 200; runs++) {
        passed += this.#drawCase(1, rate).passed;
        if (isOutside(passed, runs)) return false;
      }
      return true;
    });
  }

  /**
   * Runs a model of a known rate until it is decided about the required one. Returns the shares of
   * wrong and of missing decisions, and the mean number of answers that were needed.
   */
  simulateSequentialTest(required: number, rate: number, maxRuns = 100): SequentialTestFigures {
    const isDecidedBy = createDecision(required);
    let answers = 0;
    let undecided = 0;
    const wrong = this.#measureShare(() => {
      let passed = 0;
      for (let runs = 1; runs <= maxRuns; runs++) {
        answers++;
        passed += this.#drawCase(1, rate).passed;
        if (isDecidedBy(passed, runs)) {
          return rate === required || passed / runs >= required !== rate >= required;
        }
      }

      undecided++;
      return false;
    });

    return { wrong, undecided: undecided / TRIAL_COUNT, answers: answers / TRIAL_COUNT };
  }

  /** Returns the share of comparisons with the verdict `worse`. */
  measureWorseVerdicts({ cases, runs = 1, before, after }: Comparison): number {
    const findVerdict = memoize(
      (tally: readonly number[]) => comparePairs(buildPairs(tally, runs)).verdict,
      String,
    );
    return this.#measureShare(() => {
      // The number of cases by how many more answers they passed after than before, from all fewer
      // to all more.
      const tally = Array.from({ length: 2 * runs + 1 }, () => 0);
      for (let index = 0; index < cases; index++) {
        const passedBefore = this.#drawPassedCount(runs, before);
        const change = this.#drawPassedCount(runs, after) - passedBefore;
        tally[change + runs] = (tally[change + runs] ?? 0) + 1;
      }
      return findVerdict(tally) === 'worse';
    });
  }

  #measureShare(trial: () => boolean): number {
    let hits = 0;
    for (let index = 0; index < TRIAL_COUNT; index++) if (trial()) hits++;
    return hits / TRIAL_COUNT;
  }

  #repeat<T>(count: number, create: () => T): T[] {
    return Array.from({ length: count }, create);
  }

  #drawCase(runs: number, rate: number): CaseRuns {
    return { passed: this.#drawPassedCount(runs, rate), runs };
  }

  #drawPassedCount(runs: number, rate: number): number {
    let passed = 0;
    for (let index = 0; index < runs; index++) if (this.#drawUniform() < rate) passed++;
    return passed;
  }

  #drawRateAround(mean: number): number {
    return mean + (this.#drawUniform() - 0.5) * 0.5;
  }

  #drawUniform(): number {
    return uniformFloat64(this.#random);
  }
}

interface SequentialTestFigures {
  readonly wrong: number;
  readonly undecided: number;
  readonly answers: number;
}

/** Cases whose true rate changes, and the number of runs of each before and after. */
export interface Comparison {
  readonly cases: number;
  readonly runs?: number;
  readonly before: number;
  readonly after: number;
}

/** Returns `isDecided` of a required rate, memoized, because trials repeat the same few counts. */
function createDecision(required: number): (passed: number, runs: number) => boolean {
  const decide = memoize(
    ([passed, runs]: readonly [number, number]) => isDecided(required, passed, runs),
    ([passed, runs]) => runs * 1000 + passed,
  );
  return (passed, runs) => decide([passed, runs]);
}

/** Returns a function that is called once for each key of its arguments. */
function memoize<In, Out>(
  compute: (input: In) => Out,
  keyOf: (input: In) => string | number,
): (input: In) => Out {
  const valueByKey = new Map<string | number, Out>();
  return input => {
    const key = keyOf(input);
    const value = valueByKey.has(key) ? (valueByKey.get(key) as Out) : compute(input);
    valueByKey.set(key, value);
    return value;
  };
}

/**
 * Returns pairs with these numbers of changes; a comparison depends on nothing else.
 *
 * @param tally the number of cases by change, from all runs fewer to all runs more
 */
function buildPairs(tally: readonly number[], runs: number): CasePair[] {
  return tally.flatMap((count, index) => {
    const change = index - runs;
    const pair = {
      before: { passed: Math.max(0, -change), runs },
      after: { passed: Math.max(0, change), runs },
    };
    return Array.from({ length: count }, () => pair);
  });
}

function contains([low, high]: Interval, value: number): boolean {
  return low <= value && value <= high;
}
