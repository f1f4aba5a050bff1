import { readTextAt } from '../../../utils/bounded-json.ts';
import { formatDollars, type Money, parseDollars, toDollars } from '../../../wire/money.ts';
import type { Connection } from '../../context.ts';
import { CliError, usageError } from '../../core/errors.ts';
import { EXIT } from '../../core/exit-codes.ts';
import type { CapFlags } from '../../core/shared-flags.ts';
import { type Credits, formatCredits, fromCredits, toCredits } from './credits.ts';

/** The limits on spending; undefined for no limit. */
export interface Caps {
  readonly cost: Money | undefined;
  readonly credits: Credits | undefined;
}

/** Matches a plain decimal number, such as `2.50`, `2` or `.5`. */
const PLAIN_NUMBER = /^(?:\d+(?:\.\d*)?|\.\d+)$/u;

/**
 * Parses `--max-cost` and `--max-credits`.
 *
 * @throws {CliError} USAGE_ERROR if a value is not a plain decimal number of 0 or more
 */
export function parseCaps({ maxCost, maxCredits }: CapFlags): Caps {
  const cost = maxCost === undefined ? undefined : parseDollars(maxCost);
  if (maxCost !== undefined && cost === undefined) throw notANumberError('--max-cost', maxCost);
  if (maxCredits !== undefined && !PLAIN_NUMBER.test(maxCredits)) {
    throw notANumberError('--max-credits', maxCredits);
  }
  return { cost, credits: maxCredits === undefined ? undefined : toCredits(Number(maxCredits)) };
}

function notANumberError(flag: string, text: string): Error {
  return usageError(
    `${flag} needs a plain decimal number of 0 or more, not ${JSON.stringify(text)}`,
    `For example: ${flag} 2.50`,
  );
}

/**
 * Checks that the service reports costs if `--max-cost` needs them.
 *
 * @throws {CliError} USAGE_ERROR for a service other than the embedded one
 */
export function checkCostCap({ cost }: Caps, { costs, recorder }: Connection): void {
  if (cost === undefined || costs || recorder?.mode === 'replay') return;
  throw usageError(
    "--max-cost works only on the embedded service, because other services don't report what a run costs",
    'Limit the credits instead, with --max-credits <n>.',
  );
}

/** The amounts at the time that a cap refuses a creation; undefined if unknown. */
interface AmountsAtCap {
  /** The amount spent, or reserved for creations without a known end. */
  readonly spent: number | undefined;
  /** The estimate of the next creation. */
  readonly estimate: number | undefined;
  /**
   * True if there are creations of unknown cost: in progress, such as the rows of a provider's
   * batch, or in doubt.
   */
  readonly hasUnknown?: boolean;
  /** True if no cost is known yet, because the first creation, which goes alone, has not ended. */
  readonly awaitsFirst?: boolean;
}

const CAP_UNITS = {
  cost: { flag: '--max-cost', formatWithUnit: formatDollars, formatWithoutUnit: formatDollars },
  credits: { flag: '--max-credits', formatWithUnit: formatCredits, formatWithoutUnit: fromCredits },
};

/** Returns the error for a creation that a cap refuses, with the cap that would allow it. */
export function capReachedError(unit: keyof Caps, cap: number, amounts: AmountsAtCap): CliError {
  const { flag, formatWithUnit } = CAP_UNITS[unit];
  const { spent, estimate, awaitsFirst = false } = amounts;
  return new CliError(`stopped at ${flag}: ${formatCapReason(unit, cap, amounts)}`, {
    status: 'CAP_REACHED',
    exitCode: EXIT.capReached,
    hints: [formatCapHint(unit, amounts)],
    data: {
      flag,
      spent: spent === undefined ? null : formatWithUnit(spent),
      estimate: estimate === undefined ? null : formatWithUnit(estimate),
      ...(awaitsFirst && { awaits: 'the end of the first run' }),
    },
  });
}

function formatCapReason(
  unit: keyof Caps,
  cap: number,
  { spent, estimate, hasUnknown = false, awaitsFirst = false }: AmountsAtCap,
): string {
  if (spent === undefined) {
    return awaitsFirst
      ? 'what a run costs is not known before the first one has ended'
      : 'the cost of an earlier run could not be read';
  }

  const { formatWithUnit, formatWithoutUnit } = CAP_UNITS[unit];
  const spending = `${formatWithoutUnit(spent)} of ${formatWithUnit(cap)} ${hasUnknown ? 'spent or reserved' : 'spent'}`;
  const nextCost =
    estimate === undefined
      ? 'of unknown cost'
      : `estimated at ${formatEstimateAtCap(unit, estimate, { room: cap - spent })}`;
  return `${spending}, and the next run is ${nextCost}`;
}

/**
 * Formats an estimate; exactly if rounding would make it look as if it fitted into the room under
 * the cap.
 */
function formatEstimateAtCap(
  unit: keyof Caps,
  estimate: number,
  { room }: { readonly room: number },
): string {
  const { formatWithUnit } = CAP_UNITS[unit];
  const looksEqual = formatWithUnit(estimate) === formatWithUnit(room);
  return looksEqual && unit === 'cost'
    ? `$${formatPlainNumber(unit, estimate)}`
    : formatWithUnit(estimate);
}

function formatCapHint(unit: keyof Caps, { spent, estimate }: AmountsAtCap): string {
  const { flag } = CAP_UNITS[unit];
  if (spent === undefined) {
    return `The cap can't be enforced while costs can't be read. To continue anyway, leave ${flag} out.`;
  }
  const sufficientCap =
    estimate === undefined ? '<more>' : formatPlainNumber(unit, spent + estimate);
  return `To continue, raise the cap: ${flag} ${sufficientCap}`;
}

/** Formats an amount as the flags accept it, without an exponent. */
function formatPlainNumber(unit: keyof Caps, amount: number): string {
  const [value, maximumFractionDigits] =
    unit === 'cost' ? [toDollars(amount), 8] : [fromCredits(amount), 6];
  return value.toLocaleString('en-US', { useGrouping: false, maximumFractionDigits });
}

/**
 * Returns the hint that resumes a command which a cap stopped.
 *
 * @param capError an error of `capReachedError`
 */
export function formatResumeHint(capError: Pick<CliError, 'data'>): string {
  const { data } = capError;
  const flag = readTextAt(data, 'flag') ?? '';
  if (readTextAt(data, 'awaits') !== undefined) {
    return 'To continue, add --resume to the same command.';
  }
  if (readTextAt(data, 'spent') === undefined) {
    return `The cap can't be enforced while costs can't be read. To continue anyway, add --resume to the same command and leave ${flag} out.`;
  }
  return `To continue, add --resume and ${flag} <more> to the same command.`;
}
