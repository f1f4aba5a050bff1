/** Formats a number for messages, with commas: `10,000`. */
export function formatNumber(count: number): string {
  return count.toLocaleString('en-US');
}
