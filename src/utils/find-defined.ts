/** Returns the first result that is not undefined; asks no further items then. */
export function findDefined<T, R>(
  items: Iterable<T>,
  find: (item: T) => R | undefined,
): R | undefined {
  for (const item of items) {
    const found = find(item);
    if (found !== undefined) return found;
  }
  return undefined;
}
