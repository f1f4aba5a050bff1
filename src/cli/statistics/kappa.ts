import { clampInterval, type Interval, Z_95 } from './interval.ts';

/** The verdicts of a label and a judge on one answer. */
export interface JudgedAnswer {
  readonly label: boolean;
  readonly judge: boolean;
}

/** The agreement beyond chance: 1 is perfect, 0 is the level of chance. */
export interface Kappa {
  readonly value: number;
  readonly interval: Interval;
}

/**
 * Returns Cohen's κ (1960, https://doi.org/10.1177/001316446002000104), with the error of J. L.
 * Fleiss, J. Cohen and B. S. Everitt, "Large sample standard errors of kappa and weighted kappa",
 * 1969 (https://doi.org/10.1037/h0028106).
 *
 * @returns undefined if both always give the same single verdict, because chance would agree too
 */
export function cohensKappa(rows: readonly JudgedAnswer[]): Kappa | undefined {
  const computeShare = ({ label, judge }: JudgedAnswer) =>
    rows.filter(row => row.label === label && row.judge === judge).length / rows.length;
  const bothPass = computeShare({ label: true, judge: true });
  const labelOnly = computeShare({ label: true, judge: false });
  const judgeOnly = computeShare({ label: false, judge: true });
  const bothFail = computeShare({ label: false, judge: false });
  const labels = bothPass + labelOnly;
  const judge = bothPass + judgeOnly;
  const agreements = bothPass + bothFail;
  const byChance = labels * judge + (1 - labels) * (1 - judge);
  if (rows.length === 0 || bothPass === 1 || bothFail === 1) return undefined;

  const value = (agreements - byChance) / (1 - byChance);
  const disagreement = 1 - value;
  const onAgreed =
    bothPass * (1 - (labels + judge) * disagreement) ** 2 +
    bothFail * (1 - (2 - labels - judge) * disagreement) ** 2;

  // Each disagreement is weighted by how often the judge gives the label's verdict and the label
  // the judge's.
  const onDiffering =
    disagreement ** 2 *
    (labelOnly * (judge + 1 - labels) ** 2 + judgeOnly * (1 - judge + labels) ** 2);
  const variance =
    (onAgreed + onDiffering - (value - byChance * disagreement) ** 2) /
    (rows.length * (1 - byChance) ** 2);
  const reach = Z_95 * Math.sqrt(Math.max(0, variance));
  return { value, interval: clampInterval([value - reach, value + reach], -1, 1) };
}
