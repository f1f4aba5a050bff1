import { textAt } from '../../utils/bounded-json.ts';
import { formatDollars, type Money, parseDollars, toDollars } from '../../wire/money.ts';
import type { Connection } from '../context.ts';
import { CliError, usageError } from '../core/errors.ts';
import { EXIT } from '../core/exit-codes.ts';
import { pluralize } from '../core/pluralize.ts';
import type { CapFlags } from '../core/shared-flags.ts';

/** The limits on spending; undefined for no limit. */
export interface Caps {
  readonly cost: Money | undefined;
  readonly credits: Credits | undefined;
}

/** An integer of millionths of a credit, so that sums never drift. */
export type Credits = number;
const CREDIT = 1e6;

/** Parses the flags. @throws {CliError} USAGE_ERROR if a value is not a plain decimal number of 0 or more */
export function parseCaps({ maxCost, maxCredits }: CapFlags): Caps {
  const cost = maxCost === undefined ? undefined : parseDollars(maxCost);
  if (maxCost !== undefined && cost === undefined) throw notANumber('--max-cost', maxCost);
  const isNumber = maxCredits === undefined || /^(?:\d+(?:\.\d*)?|\.\d+)$/u.test(maxCredits);
  if (!isNumber) throw notANumber('--max-credits', maxCredits);
  return { cost, credits: maxCredits === undefined ? undefined : credits(Number(maxCredits)) };
}

function notANumber(flag: string, text: string): Error {
  return usageError(
    `${flag} needs a plain decimal number of 0 or more, not ${JSON.stringify(text)}`,
    `For example: ${flag} 2.50`,
  );
}

/** Rounds a number of credits to an amount. */
export function credits(value: number): Credits {
  return Math.round(value * CREDIT);
}

export function inCredits(amount: Credits): number {
  return amount / CREDIT;
}

/** Returns the credits in a service's answer; undefined if the value is not a number of 0 or more. */
export function creditsIn(value: unknown): Credits | undefined {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0 ? credits(value) : undefined;
}

/** Returns an amount of credits as text, such as `1 credit`. */
export function creditsText(amount: Credits): string {
  return pluralize(inCredits(amount), 'credit');
}

/** @throws {CliError} USAGE_ERROR for `--max-cost` on another service, which does not report what a run costs */
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
  /** True if there are creations of unknown cost: in progress, such as the rows of a provider's batch, or in doubt. */
  readonly hasUnknown?: boolean;
  /** True if no cost is known yet, because the first creation, which goes alone, has not ended. */
  readonly awaitsFirst?: boolean;
}

const CAP_UNITS = {
  cost: { flag: '--max-cost', withUnit: formatDollars, withoutUnit: formatDollars },
  credits: { flag: '--max-credits', withUnit: creditsText, withoutUnit: inCredits },
};

/** Returns the error for a creation that a cap refuses, with the cap that would allow it. */
export function capReached(
  unit: keyof Caps,
  cap: number,
  { spent, estimate, hasUnknown = false, awaitsFirst = false }: AmountsAtCap,
): CliError {
  const { flag, withUnit, withoutUnit } = CAP_UNITS[unit];
  const isKnown = spent !== undefined && estimate !== undefined;
  // If amounts were rounded, an estimate that is slightly too high would seem to fit.
  const isClose = isKnown && withUnit(estimate) === withUnit(cap - spent);
  const estimated = (amount: number): string =>
    isClose && unit === 'cost' ? `$${plainNumber(unit, amount)}` : withUnit(amount);
  const next = estimate === undefined ? 'of unknown cost' : `estimated at ${estimated(estimate)}`;
  const usedText = hasUnknown ? 'spent or reserved' : 'spent';
  const unreadText = awaitsFirst
    ? 'what a run costs is not known before the first one has ended'
    : 'the cost of an earlier run could not be read';
  const reason =
    spent === undefined
      ? unreadText
      : `${withoutUnit(spent)} of ${withUnit(cap)} ${usedText}, and the next run is ${next}`;
  return new CliError(`stopped at ${flag}: ${reason}`, {
    status: 'CAP_REACHED',
    exitCode: EXIT.capReached,
    hints: [
      spent === undefined
        ? `The cap can't be enforced while costs can't be read. To continue anyway, leave ${flag} out.`
        : `To continue, raise the cap: ${flag} ${isKnown ? plainNumber(unit, spent + estimate) : '<more>'}`,
    ],
    data: {
      flag,
      spent: spent === undefined ? null : withUnit(spent),
      estimate: estimate === undefined ? null : withUnit(estimate),
      ...(awaitsFirst && { awaits: 'the end of the first run' }),
    },
  });
}

/** Formats an amount as the flags accept it, without an exponent. */
function plainNumber(unit: keyof Caps, amount: number): string {
  const [value, digits] = unit === 'cost' ? [toDollars(amount), 8] : [inCredits(amount), 6];
  return value.toLocaleString('en-US', { useGrouping: false, maximumFractionDigits: digits });
}

/** Returns the hint that resumes a command which a cap stopped. @param capError the error of `capReached` */
export function resumeAtCapHint(capError: Pick<CliError, 'data'>): string {
  const flag = textAt(capError.data, 'flag') ?? '';
  if (textAt(capError.data, 'awaits') !== undefined) return 'To continue, add --resume to the same command.';
  return textAt(capError.data, 'spent') === undefined
    ? `The cap can't be enforced while costs can't be read. To continue anyway, add --resume to the same command and leave ${flag} out.`
    : `To continue, add --resume and ${flag} <more> to the same command.`;
}
