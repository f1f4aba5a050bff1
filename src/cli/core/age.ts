const STEPS: readonly (readonly [seconds: number, unit: string])[] = [
  [365 * 86_400, 'year'],
  [30 * 86_400, 'month'],
  [86_400, 'day'],
  [3600, 'hour'],
  [60, 'minute'],
];

/** How long ago something was, in words; a clock that runs ahead counts as now. Times in milliseconds. */
export function ageInWords(then: number, now: number): string {
  const seconds = Math.floor((now - then) / 1000);
  const step = STEPS.find(([length]) => seconds >= length);
  if (step === undefined) return 'just now';
  const count = Math.floor(seconds / step[0]);
  return `${count} ${step[1]}${count === 1 ? '' : 's'} ago`;
}

/** The age of an ISO 8601 time in words; a text that is not a time is given back as it is. */
export function ageOf(iso: string, now: number): string {
  const then = Date.parse(iso);
  return Number.isNaN(then) ? iso : ageInWords(then, now);
}
