import { uniformFloat64 } from 'pure-rand/distribution/uniformFloat64';
import { xoroshiro128plus } from 'pure-rand/generator/xoroshiro128plus';
import { isDecided } from '../../../src/cli/statistics/confidence-sequence.ts';
import { type Interval, wilsonInterval } from '../../../src/cli/statistics/interval.ts';
import { type CasePair, comparePairs } from '../../../src/cli/statistics/paired.ts';
import { type CaseRuns, summarizeRates } from '../../../src/cli/statistics/rates.ts';

const TRIALS = 2000;

/** Models with a known rate, asked again and again; the same seed gives the same answers. */
export class Simulation {
  readonly #random;

  constructor(seed: number) {
    this.#random = xoroshiro128plus(seed);
  }

  /** Returns the share of intervals that hold the true rate, which is drawn anew for each trial unless it is named. */
  wilsonCoverage(runs: number, rate?: number): number {
    return this.#share(() => {
      const truth = rate ?? this.#uniform();
      return holds(wilsonInterval(this.#answers(runs, truth).passed / runs, runs), truth);
    });
  }

  /** Returns the same for the mean over cases, each with a rate of its own around the truth. */
  meanCoverage(cases: number, runs: number): number {
    return this.#share(() => {
      const summary = summarizeRates(this.#cases(cases, () => this.#answers(runs, this.#rateAround(0.7))));
      return summary !== undefined && holds(summary.interval, 0.7);
    });
  }

  /** Returns the share of true rates that no interval of the first 200 answers ever rules out. */
  sequenceCoverage(rate: number): number {
    return this.#share(() => {
      let passed = 0;
      for (let runs = 1; runs <= 200; runs++) {
        passed += this.#answers(1, rate).passed;
        if (isDecided(rate, passed, runs)) return false; // the rate is outside of the interval
      }
      return true;
    });
  }

  /** Returns the share of wrong and of missing decisions under a required rate, and the answers that were needed on average. */
  sure(required: number, rate: number, most = 100): SureFigures {
    let answers = 0;
    let undecided = 0;
    const wrong = this.#share(() => {
      let passed = 0;
      for (let runs = 1; runs <= most; runs++) {
        answers++;
        passed += this.#answers(1, rate).passed;
        if (isDecided(required, passed, runs))
          return rate === required || passed / runs >= required !== rate >= required;
      }
      undecided++;
      return false;
    });
    return { wrong, undecided: undecided / TRIALS, answers: answers / TRIALS };
  }

  /** Returns the share of comparisons that find the cases worse. */
  foundWorse({ cases, runs = 1, before, after }: Comparison): number {
    return this.#share(() => {
      const pairs = this.#cases(
        cases,
        (): CasePair => ({ before: this.#answers(runs, before), after: this.#answers(runs, after) }),
      );
      return comparePairs(pairs).verdict === 'worse';
    });
  }

  #share(trial: () => boolean): number {
    let hits = 0;
    for (let at = 0; at < TRIALS; at++) if (trial()) hits++;
    return hits / TRIALS;
  }

  #cases<T>(count: number, one: () => T): T[] {
    return Array.from({ length: count }, one);
  }

  #answers(runs: number, rate: number): CaseRuns {
    let passed = 0;
    for (let at = 0; at < runs; at++) if (this.#uniform() < rate) passed++;
    return { passed, runs };
  }

  #rateAround(mean: number): number {
    return mean + (this.#uniform() - 0.5) * 0.5;
  }

  #uniform(): number {
    return uniformFloat64(this.#random);
  }
}

interface SureFigures {
  readonly wrong: number;
  readonly undecided: number;
  readonly answers: number;
}

export interface Comparison {
  readonly cases: number;
  readonly runs?: number;
  readonly before: number;
  readonly after: number;
}

function holds([low, high]: Interval, value: number): boolean {
  return low <= value && value <= high;
}
