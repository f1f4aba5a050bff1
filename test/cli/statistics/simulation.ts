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

  /**
   * Returns the share of intervals that hold the true rate, which is drawn anew for each trial
   * unless it is named.
   */
  wilsonCoverage(runs: number, rate?: number): number {
    return this.#share(() => {
      const truth = rate ?? this.#uniform();
      return holds(wilsonInterval(this.#answers(runs, truth).passed / runs, runs), truth);
    });
  }

  /** Returns the same for the mean over cases, each with its own rate around the truth. */
  meanCoverage(cases: number, runs: number): number {
    return this.#share(() => {
      const summary = summarizeRates(
        this.#cases(cases, () => this.#answers(runs, this.#rateAround(0.7))),
      );
      return summary !== undefined && holds(summary.interval, 0.7);
    });
  }

  /** Returns the share of true rates that no interval of the first 200 answers ever rules out. */
  sequenceCoverage(rate: number): number {
    const isOutside = decisionsAbout(rate);
    return this.#share(() => {
      let passed = 0;
      for (let runs = 1; runs <= 200; runs++) {
        passed += this.#answers(1, rate).passed;
        if (isOutside(passed, runs)) return false;
      }
      return true;
    });
  }

  /**
   * Returns the share of wrong and of missing decisions under a required rate, and the answers that
   * were needed on average.
   */
  sure(required: number, rate: number, most = 100): SureFigures {
    const isDecidedBy = decisionsAbout(required);
    let answers = 0;
    let undecided = 0;
    const wrong = this.#share(() => {
      let passed = 0;
      for (let runs = 1; runs <= most; runs++) {
        answers++;
        passed += this.#answers(1, rate).passed;
        if (isDecidedBy(passed, runs)) {
          return rate === required || passed / runs >= required !== rate >= required;
        }
      }

      undecided++;
      return false;
    });

    return { wrong, undecided: undecided / TRIALS, answers: answers / TRIALS };
  }

  /** Returns the share of comparisons that find the cases worse. */
  foundWorse({ cases, runs = 1, before, after }: Comparison): number {
    const rememberedVerdict = remembered(
      (tally: readonly number[]) => comparePairs(pairsWith(tally, runs)).verdict,
      String,
    );
    return this.#share(() => {
      // The number of cases by how many more answers they passed after than before, from all fewer
      // to all more.
      const tally = Array.from({ length: 2 * runs + 1 }, () => 0);
      for (let index = 0; index < cases; index++) {
        const passedBefore = this.#passed(runs, before);
        const change = this.#passed(runs, after) - passedBefore;
        tally[change + runs] = (tally[change + runs] ?? 0) + 1;
      }
      return rememberedVerdict(tally) === 'worse';
    });
  }

  #share(trial: () => boolean): number {
    let hits = 0;
    for (let index = 0; index < TRIALS; index++) if (trial()) hits++;
    return hits / TRIALS;
  }

  #cases<T>(count: number, one: () => T): T[] {
    return Array.from({ length: count }, one);
  }

  #answers(runs: number, rate: number): CaseRuns {
    return { passed: this.#passed(runs, rate), runs };
  }

  #passed(runs: number, rate: number): number {
    let passed = 0;
    for (let index = 0; index < runs; index++) if (this.#uniform() < rate) passed++;
    return passed;
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

/**
 * Returns `isDecided` of a required rate, asked once about each count: trials have few, again and
 * again.
 */
function decisionsAbout(required: number): (passed: number, runs: number) => boolean {
  const decided = remembered(
    ([passed, runs]: readonly [number, number]) => isDecided(required, passed, runs),
    ([passed, runs]) => runs * 1000 + passed,
  );
  return (passed, runs) => decided([passed, runs]);
}

/** Returns a function that is called once for each key of its arguments. */
function remembered<In, Out>(
  of: (input: In) => Out,
  keyOf: (input: In) => string | number,
): (input: In) => Out {
  const known = new Map<string | number, Out>();
  return input => {
    const key = keyOf(input);
    const value = known.has(key) ? (known.get(key) as Out) : of(input);
    known.set(key, value);
    return value;
  };
}

/** Returns pairs of these changes, which are all that a comparison goes by. */
function pairsWith(tally: readonly number[], runs: number): CasePair[] {
  return tally.flatMap((count, index) => {
    const change = index - runs;
    const pair = {
      before: { passed: Math.max(0, -change), runs },
      after: { passed: Math.max(0, change), runs },
    };
    return Array.from({ length: count }, () => pair);
  });
}

function holds([low, high]: Interval, value: number): boolean {
  return low <= value && value <= high;
}
