import type { YamlValue } from '../../../files/formats/yaml.ts';
import { formatPercent } from '../../statistics/interval.ts';
import { isAtLeast } from '../../statistics/nearly-equal.ts';
import { testFileError } from './test-values.ts';

/** The runs of a case that must pass: all, a number, or a rate. */
export type PassRule =
  | { readonly kind: 'all' }
  | { readonly kind: 'count'; readonly count: number }
  /** A rate from 0 to 1. */
  | { readonly kind: 'rate'; readonly rate: number };

export const ALL_RUNS: PassRule = { kind: 'all' };

/** Matches a percentage, such as `80%` or `99.5%`. */
const PASS_PERCENTAGE = /^(\d{1,3}(?:\.\d{1,9})?)%$/u;

/**
 * Parses `pass`.
 *
 * @throws {CliError} USAGE_ERROR with file and line unless it is a count or a percentage
 */
export function readPassRule(value: YamlValue): PassRule {
  const count = value.toJson();
  if (typeof count === 'number' && Number.isSafeInteger(count) && count >= 1) {
    return { kind: 'count', count };
  }

  const [, digits] = PASS_PERCENTAGE.exec(value.scalar ?? '') ?? [];
  if (digits !== undefined && Number(digits) <= 100) {
    return { kind: 'rate', rate: Number(digits) / 100 };
  }

  throw testFileError(
    value,
    'pass must be a count of 1 or more, or a percentage from 0% to 100%, such as 80%',
  );
}

/** Returns true if enough runs of a case have passed. */
export function meetsPassRule(rule: PassRule, passedCount: number, runCount: number): boolean {
  return isAtLeast(passedCount, computeRequiredPasses(rule, runCount));
}

function computeRequiredPasses(rule: PassRule, runCount: number): number {
  if (rule.kind === 'all') return runCount;
  return rule.kind === 'count' ? rule.count : rule.rate * runCount;
}

/** Returns the share of the runs that must pass, from 0 to 1. */
export function computeRequiredRate(rule: PassRule, runCount: number): number {
  return computeRequiredPasses(rule, runCount) / runCount;
}

/** Returns the rule as text for a summary, such as `8 needed` or `80 % needed`. */
export function formatRequiredPasses(rule: PassRule, runCount: number): string {
  const required =
    rule.kind === 'rate' ? formatPercent(rule.rate) : computeRequiredPasses(rule, runCount);
  return `${required} needed`;
}

/** Returns the rule for a report: a count, or a percentage such as `"80%"`. */
export function toPassRuleData(rule: PassRule, runCount: number): number | string {
  return rule.kind === 'rate'
    ? formatPercent(rule.rate).replace(' ', '')
    : computeRequiredPasses(rule, runCount);
}
