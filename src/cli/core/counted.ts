/** A number of things, such as `1 credit`, `2 credits`. */
export function counted(count: number | string, noun: string): string {
  return `${count} ${noun}${String(count) === '1' ? '' : 's'}`;
}
