import { usageError } from '../errors.ts';
import type { RateComparison } from './comparison.ts';

/** What makes a comparison of rates fail: that it is worse, or that it leaves more than a margin open. */
export type VerdictGate =
  | { readonly failOn: 'worse' }
  /** The margin is a share from 0 to 1. */
  | { readonly failOn: 'unsure'; readonly margin: number };

/** What makes a test fail: its cases, whatever they are compared with, or the verdict. */
export type Gate = VerdictGate | { readonly failOn: 'failed' };

export function failsGate(gate: VerdictGate, comparison: RateComparison | undefined): boolean {
  if (comparison === undefined) return false;
  if (comparison.verdict === 'worse') return true;
  return gate.failOn === 'unsure' && !(comparison.interval[0] > -gate.margin);
}

const DEFAULT_MARGIN = '5%';

/**
 * Reads `--margin`.
 *
 * @throws {CliError} USAGE_ERROR for anything but a percentage with its sign
 */
export function parseMargin(text = DEFAULT_MARGIN): number {
  const [, digits] = /^(\d{1,3}(?:\.\d{1,9})?)%$/u.exec(text) ?? [];
  if (digits !== undefined && Number(digits) <= 100) return Number(digits) / 100;
  throw usageError(`--margin takes a percentage from 0% to 100%, such as 5%, not ${JSON.stringify(text)}`);
}
