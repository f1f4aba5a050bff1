const DAY_SECONDS = 86_400;

/** Formats a count with its noun, such as `1 credit` or `2 credits`. */
export function pluralize(count: number | string, noun: string): string {
  return `${count} ${noun}${String(count) === '1' ? '' : 's'}`;
}

/** Formats a wait. A service may ask for years, so a long wait gets no exact figure. */
export function formatWait(seconds: number): string {
  return seconds > DAY_SECONDS ? 'more than a day' : pluralize(seconds, 'second');
}
