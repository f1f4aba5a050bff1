/** An amount in millionths of a US cent. It is an integer, so sums don't drift. */
export type Money = number;

const MONEY_PER_DOLLAR = 1e8;

/** Converts US dollars to the nearest amount. */
export function toMoney(dollars: number): Money {
  return Math.round(dollars * MONEY_PER_DOLLAR);
}

/** Converts an amount to US dollars, with at most eight decimals. */
export function toDollars(amount: Money): number {
  return amount / MONEY_PER_DOLLAR;
}

/**
 * Formats an amount such as `$0.0123` or `$2.50`: to the cent, below a dollar with three
 * significant digits.
 */
export function formatDollars(amount: Money): string {
  const value = toDollars(amount);
  if (value >= 1 || value === 0) return `$${value.toFixed(2)}`;
  const digits = Math.min(8, Math.max(2, 2 - Math.floor(Math.log10(value))));
  let text = value.toFixed(digits);
  while (text.endsWith('0') && /\.\d{3,8}$/.test(text)) text = text.slice(0, -1);
  return `$${text}`;
}

/** Formats the cost of a run or a group of runs, with `~` before an estimate. */
export function formatCost(
  cost: number | null,
  {
    isEstimated = false,
    unknownText = 'not known',
  }: { isEstimated?: boolean; unknownText?: string } = {},
): string {
  return cost === null ? unknownText : `${isEstimated ? '~' : ''}${formatDollars(toMoney(cost))}`;
}

/** Parses a plain decimal number of US dollars, at least 0; undefined for anything else. */
export function parseDollars(text: string): Money | undefined {
  return /^(?:\d+(?:\.\d*)?|\.\d+)$/.test(text) ? toMoney(Number(text)) : undefined;
}
