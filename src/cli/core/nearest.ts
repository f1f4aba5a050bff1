/** The known name nearest to the one given; undefined where even that differs in more than a third of its letters. */
export function nearest(given: string, known: readonly string[]): string | undefined {
  const limit = Math.floor(given.length / 3);
  const [best] = known
    .map(name => ({ name, distance: editDistance(given.toLowerCase(), name.toLowerCase(), limit) }))
    .filter(({ distance }) => distance <= limit)
    .sort((one, other) => one.distance - other.distance);
  return best?.name;
}

/** What to add to a refusal of a name: the known name that was probably meant; nothing where none is like it. */
export function didYouMean(given: string, known: readonly string[]): string {
  const meant = nearest(given, known);
  return meant === undefined ? '' : `; did you mean ${meant}?`;
}

/** What refuses a name that is not known: a message with the nearest one, and a hint with all there are. */
export function unknownName(
  what: string,
  given: string,
  known: readonly string[],
): [message: string, ...hints: string[]] {
  const plural = what.replace(/y$/u, 'ie').replace(/s$/u, 'se').concat('s');
  const all = `${plural.charAt(0).toUpperCase()}${plural.slice(1)}: ${known.join(', ')}`;
  return [
    `there is no ${what} ${JSON.stringify(given)}${didYouMean(given, known)}`,
    ...(known.length === 0 ? [] : [all]),
  ];
}

/** How many letters to insert, delete, replace or swap; `limit + 1` as soon as the lengths alone need more. */
function editDistance(one: string, other: string, limit: number): number {
  if (Math.abs(one.length - other.length) > limit) return limit + 1;
  let before: number[] = [];
  let row = Array.from({ length: other.length + 1 }, (_, index) => index);
  for (let i = 1; i <= one.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= other.length; j += 1) {
      const same = one[i - 1] === other[j - 1];
      const costs = [at(row, j) + 1, at(next, j - 1) + 1, at(row, j - 1) + (same ? 0 : 1)];
      const swapped = i > 1 && j > 1 && one[i - 1] === other[j - 2] && one[i - 2] === other[j - 1];
      if (swapped) costs.push(at(before, j - 2) + 1);
      next.push(Math.min(...costs));
    }
    before = row;
    row = next;
  }
  return at(row, other.length);
}

function at(row: readonly number[], index: number): number {
  return row[index] ?? Number.POSITIVE_INFINITY;
}
