import { clampInterval, type Interval, Z_95 } from './interval.ts';

/** The verdicts of a label and of a judge on one answer: true if the answer passes. */
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
export function computeKappa(rows: readonly JudgedAnswer[]): Kappa | undefined {
  const computeShare = ({ label, judge }: JudgedAnswer) =>
    rows.filter(row => row.label === label && row.judge === judge).length / rows.length;
  const bothPass = computeShare({ label: true, judge: true });
  const onlyLabelPasses = computeShare({ label: true, judge: false });
  const onlyJudgePasses = computeShare({ label: false, judge: true });
  const bothFail = computeShare({ label: false, judge: false });
  if (rows.length === 0 || bothPass === 1 || bothFail === 1) return undefined;

  const labelPasses = bothPass + onlyLabelPasses;
  const judgePasses = bothPass + onlyJudgePasses;
  const observedAgreement = bothPass + bothFail;
  const chanceAgreement = labelPasses * judgePasses + (1 - labelPasses) * (1 - judgePasses);
  const value = (observedAgreement - chanceAgreement) / (1 - chanceAgreement);

  const distance = 1 - value;
  const agreementTerm =
    bothPass * (1 - (labelPasses + judgePasses) * distance) ** 2 +
    bothFail * (1 - (2 - labelPasses - judgePasses) * distance) ** 2;

  // Each disagreement is weighted by how often the judge gives the label's verdict and the label
  // the judge's.
  const disagreementTerm =
    distance ** 2 *
    (onlyLabelPasses * (judgePasses + 1 - labelPasses) ** 2 +
      onlyJudgePasses * (1 - judgePasses + labelPasses) ** 2);
  const variance =
    (agreementTerm + disagreementTerm - (value - chanceAgreement * distance) ** 2) /
    (rows.length * (1 - chanceAgreement) ** 2);
  const halfWidth = Z_95 * Math.sqrt(Math.max(0, variance));
  return { value, interval: clampInterval([value - halfWidth, value + halfWidth], -1, 1) };
}
