import { timingSafeEqual } from 'node:crypto';

/** Whether two secrets are the same, in a time that doesn't tell how much of one was guessed. */
export function isSameSecret(given: string, wanted: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(wanted)];
  return a.length === b.length && timingSafeEqual(a, b);
}
