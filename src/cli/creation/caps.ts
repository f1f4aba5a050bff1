import { type Money, parseDollars } from '../../wire/money.ts';
import type { Connection } from '../context.ts';
import { usageError } from '../core/errors.ts';
import type { CapFlags } from '../core/shared-flags.ts';
import { type Credits, creditAmount } from './credits.ts';

/** The limits on spending; undefined for no limit. */
export interface Caps {
  readonly cost: Money | undefined;
  readonly credits: Credits | undefined;
}

/** Parses the flags. @throws {CliError} USAGE_ERROR if a value is not a plain decimal number of 0 or more */
export function parseCaps({ maxCost, maxCredits }: CapFlags): Caps {
  const cost = maxCost === undefined ? undefined : parseDollars(maxCost);
  if (maxCost !== undefined && cost === undefined) throw notANumber('--max-cost', maxCost);
  const isNumber = maxCredits === undefined || /^(?:\d+(?:\.\d*)?|\.\d+)$/u.test(maxCredits);
  if (!isNumber) throw notANumber('--max-credits', maxCredits);
  return { cost, credits: maxCredits === undefined ? undefined : creditAmount(Number(maxCredits)) };
}

function notANumber(flag: string, text: string): Error {
  return usageError(
    `${flag} needs a plain decimal number of 0 or more, not ${JSON.stringify(text)}`,
    `For example: ${flag} 2.50`,
  );
}

/** @throws {CliError} USAGE_ERROR for `--max-cost` on another service, which does not report what a run costs */
export function checkCostCap({ cost }: Caps, { costs, recorder }: Connection): void {
  if (cost === undefined || costs || recorder?.mode === 'replay') return;
  throw usageError(
    "--max-cost works only on the embedded service, because other services don't report what a run costs",
    'Limit the credits instead, with --max-credits <n>.',
  );
}
