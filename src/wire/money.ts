/** An amount in millionths of a US cent, an integer: sums of it never drift. */
export type Money = number;

const DOLLAR = 1e8;

/** The nearest amount to a number of US dollars. */
export function money(dollars: number): Money {
  return Math.round(dollars * DOLLAR);
}

/** An amount in US dollars, with at most eight decimals. */
export function dollars(amount: Money): number {
  return amount / DOLLAR;
}

/** An amount such as `$0.0123` or `$2.50`: to the cent, and below a dollar to three digits that count. */
export function formatDollars(amount: Money): string {
  const value = dollars(amount);
  if (value >= 1 || value === 0) return `$${value.toFixed(2)}`;
  const digits = Math.min(8, Math.max(2, 2 - Math.floor(Math.log10(value))));
  let text = value.toFixed(digits);
  while (text.endsWith('0') && /\.\d{3,8}$/.test(text)) text = text.slice(0, -1);
  return `$${text}`;
}

/** What a run or a group of runs cost, marked with `~` if the figure is an estimate. */
export function costText(cost: number | null, isEstimated: boolean, unknown = 'not known'): string {
  return cost === null ? unknown : `${isEstimated ? '~' : ''}${formatDollars(money(cost))}`;
}

/** Reads a plain decimal number of US dollars, at least 0; undefined for anything else. */
export function parseDollars(text: string): Money | undefined {
  return /^(?:\d+(?:\.\d*)?|\.\d+)$/.test(text) ? money(Number(text)) : undefined;
}
