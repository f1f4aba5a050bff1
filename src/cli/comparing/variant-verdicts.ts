import {
  compareRates,
  formatRateVerdict,
  type RateComparison,
} from '../statistics/compare-rates.ts';
import type { CasePair } from '../statistics/paired.ts';
import type { ComparedRowJudgement } from './compared-row.ts';
import type { Variant } from './create-variants.ts';

/** The verdict on one variant against the first. */
export interface VariantVerdict {
  readonly name: string;
  /** Undefined if no row was judged for both variants. */
  readonly rates: RateComparison | undefined;
}

export function computeVariantVerdicts(
  variants: readonly Variant[],
  judgements: ReadonlyMap<number, ComparedRowJudgement>,
): VariantVerdict[] {
  return variants.slice(1).map(({ name }, index) => {
    const pairs = [...judgements.values()].flatMap(({ passes }): CasePair[] => {
      const [before, after] = [passes[0], passes[index + 1]];
      if (before === undefined || after === undefined) return [];
      return [
        { before: { passed: Number(before), runs: 1 }, after: { passed: Number(after), runs: 1 } },
      ];
    });
    return { name, rates: compareRates(pairs) };
  });
}

/** Returns the verdict of each later variant on the first, in one line. */
export function formatVariantVerdicts(
  verdicts: readonly VariantVerdict[],
  referenceName: string,
): (readonly [name: string, verdict: string])[] {
  return verdicts.map(({ name, rates }) => [
    name,
    rates === undefined
      ? 'no row could be judged'
      : formatRateVerdict(rates, `with ${referenceName}`),
  ]);
}
