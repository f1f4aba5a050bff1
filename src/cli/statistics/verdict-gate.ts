import { usageError } from '../core/errors.ts';
import type { RateComparison } from './compare-rates.ts';

/**
 * The condition that fails a comparison: a worse verdict, or also an interval that reaches down to
 * the margin.
 */
export type VerdictGate =
  | { readonly failOn: 'worse' }
  /** The margin is a share from 0 to 1. */
  | { readonly failOn: 'unsure'; readonly margin: number };

/** The condition that fails a test: its failed cases, or the verdict of a comparison. */
export type TestGate = VerdictGate | { readonly failOn: 'failed' };

export function failsGate(gate: VerdictGate, comparison: RateComparison | undefined): boolean {
  if (comparison === undefined) return false;
  if (comparison.verdict === 'worse') return true;
  return gate.failOn === 'unsure' && comparison.interval[0] <= -gate.margin;
}

const DEFAULT_MARGIN = '5%';

/** Matches a percentage, such as `5%` or `2.5%`. */
const PERCENTAGE = /^(?<percent>\d{1,3}(?:\.\d{1,9})?)%$/u;

/**
 * Parses `--margin`.
 *
 * @throws {CliError} USAGE_ERROR for anything but a percentage with its sign
 */
export function parseMargin(text = DEFAULT_MARGIN): number {
  const { percent } = PERCENTAGE.exec(text)?.groups ?? {};
  if (percent !== undefined && Number(percent) <= 100) return Number(percent) / 100;
  throw usageError(
    `--margin takes a percentage from 0% to 100%, such as 5%, not ${JSON.stringify(text)}`,
  );
}
