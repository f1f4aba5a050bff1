import {
  computeWilsonInterval,
  formatInterval,
  formatPercent,
  type Interval,
} from '../../statistics/interval.ts';
import { computeKappa, type Kappa } from '../../statistics/kappa.ts';
import type { LabelledRow } from './labelled-rows.ts';

/** A row with the judge's verdicts. */
export interface JudgedRow extends LabelledRow {
  /** The verdicts, at least one, in the order of the questions. */
  readonly verdicts: readonly { readonly passes: boolean; readonly reason: string }[];
}

/** The agreement of a judge's first answers with the labels. */
export interface Agreement {
  readonly rows: number;
  /** The share of rows with equal verdicts; undefined if no row was judged. */
  readonly agreement: { readonly rate: number; readonly interval: Interval } | undefined;
  readonly kappa: Kappa | undefined;
  /** The number of rows that pass by their labels, and by the judge. */
  readonly passes: { readonly labels: number; readonly judge: number };
  /**
   * The share of equal verdicts among all pairs of answers to the same row; undefined if the judge
   * was asked once about each row.
   */
  readonly selfAgreement: number | undefined;
  readonly disagreements: readonly Disagreement[];
}

interface Disagreement extends LabelledRow {
  readonly judge: boolean;
  readonly reason: string;
}

/** Compares the judge's first answer to each row with the row's label. */
export function measureAgreement(rows: readonly JudgedRow[]): Agreement {
  const judgedRows = rows.map(({ verdicts, ...row }) => {
    const [firstVerdict] = verdicts;
    return { ...row, judge: firstVerdict?.passes ?? false, reason: firstVerdict?.reason ?? '' };
  });
  const disagreements = judgedRows.filter(({ label, judge }) => label !== judge);
  const rate = 1 - disagreements.length / judgedRows.length;

  return {
    rows: judgedRows.length,
    agreement:
      judgedRows.length === 0
        ? undefined
        : { rate, interval: computeWilsonInterval(rate, judgedRows.length) },
    kappa: computeKappa(judgedRows),
    passes: {
      labels: judgedRows.filter(({ label }) => label).length,
      judge: judgedRows.filter(({ judge }) => judge).length,
    },
    selfAgreement: computeSelfAgreement(rows),
    disagreements,
  };
}

/** Returns how often two answers of the judge to the same row have equal verdicts. */
function computeSelfAgreement(rows: readonly JudgedRow[]): number | undefined {
  let [pairCount, equalPairCount] = [0, 0];
  for (const { verdicts } of rows) {
    const passCount = verdicts.filter(({ passes }) => passes).length;
    const failCount = verdicts.length - passCount;
    pairCount += countPairs(verdicts.length);
    equalPairCount += countPairs(passCount) + countPairs(failCount);
  }
  return pairCount === 0 ? undefined : equalPairCount / pairCount;
}

function countPairs(count: number): number {
  return (count * (count - 1)) / 2;
}

/** Returns the agreement in the form of `--json`. */
export function toAgreementData({
  rows,
  agreement,
  kappa,
  passes,
  selfAgreement,
  disagreements,
}: Agreement): object {
  return {
    rows,
    agreement: agreement ?? null,
    kappa: kappa ?? null,
    passes,
    itself: selfAgreement ?? null,
    differ: disagreements.map(({ row, id, output, rubric, label, judge, reason }) => {
      return {
        row,
        id,
        output,
        rubric,
        label: toVerdictWord(label),
        judge: toVerdictWord(judge),
        reason,
      };
    }),
  };
}

/** Formats the agreement for people. */
export function formatAgreement({
  rows,
  agreement,
  kappa,
  passes,
  selfAgreement,
  disagreements,
}: Agreement): string[] {
  if (agreement === undefined) return ['no row was judged'];

  const describeInterval = (interval: Interval): string =>
    `probably between ${formatInterval(interval).replace('–', ' and ')}`;
  const formatKappa = (value: number): string => String(Number(value.toFixed(2)));
  const agreedCount = rows - disagreements.length;

  return [
    `agreement: ${agreedCount} of ${rows}, ${formatShare(agreement.rate)}; the true rate is ${describeInterval(agreement.interval)}`,
    kappa === undefined
      ? "Cohen's kappa: not defined, because all labels and all verdicts of the judge are the same"
      : `Cohen's kappa: ${formatKappa(kappa.value)}, probably between ${formatKappa(kappa.interval[0])} and ${formatKappa(kappa.interval[1])}`,
    `pass: ${passes.labels} times by the labels, ${passes.judge} times by the judge`,
    ...(selfAgreement === undefined
      ? []
      : [`the judge agrees with itself: ${formatShare(selfAgreement)} of pairs of answers`]),
    ...disagreements.map(
      ({ id, label, judge, reason }) =>
        `row ${id}: label ${toVerdictWord(label)}, judge ${toVerdictWord(judge)}: ${reason}`,
    ),
  ];
}

function formatShare(share: number): string {
  return formatPercent(Number(share.toFixed(3)));
}

function toVerdictWord(passes: boolean): 'pass' | 'fail' {
  return passes ? 'pass' : 'fail';
}
