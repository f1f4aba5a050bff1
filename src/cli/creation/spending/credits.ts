import { pluralize } from '../../core/pluralize.ts';

/** An integer of millionths of a credit, so that sums never drift. */
export type Credits = number;

const MILLIONTHS_PER_CREDIT = 1e6;

/** Rounds a number of credits to an amount. */
export function toCredits(value: number): Credits {
  return Math.round(value * MILLIONTHS_PER_CREDIT);
}

export function fromCredits(amount: Credits): number {
  return amount / MILLIONTHS_PER_CREDIT;
}

/**
 * Returns the credits in a service's answer, or undefined if the value is not a number of 0 or
 * more.
 */
export function parseCredits(value: unknown): Credits | undefined {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0
    ? toCredits(value)
    : undefined;
}

/** Returns an amount of credits as text, such as `1 credit`. */
export function formatCredits(amount: Credits): string {
  return pluralize(fromCredits(amount), 'credit');
}
