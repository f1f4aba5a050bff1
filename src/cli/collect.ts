/** For a flag that may be repeated: each value joins those before it. */
export function collect(value: string, before: readonly string[] = []): string[] {
  return [...before, value];
}
