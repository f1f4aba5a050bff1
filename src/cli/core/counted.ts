/** Formats a count with its noun, such as `1 credit` or `2 credits`. */
export function counted(count: number | string, noun: string): string {
  return `${count} ${noun}${String(count) === '1' ? '' : 's'}`;
}
