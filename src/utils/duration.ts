const MS_PER_UNIT = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

/** Maximum delay of a Node timer, in milliseconds. */
export const MAX_TIMER_MS = 2 ** 31 - 1;

/**
 * Parses a duration such as `90s`, `10m` or `1h30m` into milliseconds; undefined if it is not one.
 */
export function parseDurationMs(text: string): number | undefined {
  const parts = [...text.matchAll(/(?<![\d.])(\d+(?:\.\d+)?)(ms|s|m|h|d)/g)];
  if (parts.length === 0 || parts.map(part => part[0]).join('') !== text) return undefined;
  const ms = parts.reduce(
    (sum, [, number, unit]) => sum + Number(number) * MS_PER_UNIT[unit as keyof typeof MS_PER_UNIT],
    0,
  );
  return Math.round(ms);
}
