import { dollars, formatDollars, type Money, parseDollars } from '../../wire/money.ts';
import { counted } from '../core/counted.ts';
import type { CapFlags } from '../core/shared-flags.ts';
import { CliError, usageError } from '../errors.ts';
import { EXIT } from '../exit-codes.ts';

/** What runs may come to; undefined if there is no such bound. */
export interface Caps {
  readonly cost: Money | undefined;
  readonly credits: Credits | undefined;
}

/** Millionths of a credit, an integer: sums of it never drift. */
export type Credits = number;
const CREDIT = 1e6;

/** Reads the flags. @throws {CliError} USAGE_ERROR for what is not a plain decimal number of at least 0 */
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

/** The nearest amount to a number of credits. */
export function credits(value: number): Credits {
  return Math.round(value * CREDIT);
}

/** An amount as a number of credits. */
export function inCredits(amount: Credits): number {
  return amount / CREDIT;
}

/** Credits that a service names; undefined for what is not a number of at least 0. */
export function creditsIn(value: unknown): Credits | undefined {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0 ? credits(value) : undefined;
}

/** An amount of credits in words, such as `1 credit`. */
export function creditsText(amount: Credits): string {
  return counted(inCredits(amount), 'credit');
}

/** Why `--max-cost` is refused. */
export function costsAreNotTold(): CliError {
  return usageError(
    "--max-cost is for this machine's own service: another one does not tell what a run costs",
    'Bound the credits instead, with --max-credits <n>.',
  );
}

/** What a cap leaves no room for; undefined is what is not known. */
interface Refused {
  /** Spent, or set aside for creations whose end is not known. */
  readonly spent: number | undefined;
  /** What the next creation is estimated at. */
  readonly estimate: number | undefined;
}

/** Returns the error that says that nothing more is created, and from which cap on it goes on. */
export function capReached(unit: keyof Caps, cap: number, { spent, estimate }: Refused): CliError {
  const flag = unit === 'cost' ? '--max-cost' : '--max-credits';
  const inWords = unit === 'cost' ? formatDollars : creditsText;
  const next = estimate === undefined ? 'not known in advance' : `estimated at ${inWords(estimate)}`;
  const what =
    spent === undefined
      ? 'what a run took could not be learnt'
      : `${inWords(spent)} of ${inWords(cap)} spent, and the next run is ${next}`;
  const enough =
    spent === undefined || estimate === undefined ? '<more>' : plainNumber(unit, spent + estimate);
  return new CliError(`stopped at ${flag}: ${what}`, {
    status: 'CAP_REACHED',
    exitCode: EXIT.capReached,
    hints: [`To go on, raise the cap: ${flag} ${enough}`],
    data: {
      flag,
      spent: spent === undefined ? null : inWords(spent),
      estimate: estimate === undefined ? null : inWords(estimate),
    },
  });
}

/** An amount as a cap takes it, which has no exponent. */
function plainNumber(unit: keyof Caps, amount: number): string {
  const [value, digits] = unit === 'cost' ? [dollars(amount), 8] : [inCredits(amount), 6];
  return value.toLocaleString('en-US', { useGrouping: false, maximumFractionDigits: digits });
}
