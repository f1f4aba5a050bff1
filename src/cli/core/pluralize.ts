const DAY_S = 86_400;

/** Formats a wait. A service may ask for years, so a long wait gets no exact figure. */
export function formatWait(seconds: number): string {
  return seconds > DAY_S ? 'more than a day' : pluralize(seconds, 'second');
}

/** Formats a count with its noun, such as `1 credit` or `2 credits`. */
export function pluralize(count: number | string, noun: string): string {
  return `${count} ${noun}${String(count) === '1' ? '' : 's'}`;
}
