import { usageError } from '../errors.ts';

/** The name nearest to what was typed; undefined where even that differs in more than a third of its letters. */
export function nearest(typed: string, names: readonly string[]): string | undefined {
  const limit = Math.floor(typed.length / 3);
  const [best] = names
    .map(name => ({ name, distance: editDistance(typed.toLowerCase(), name.toLowerCase(), limit) }))
    .filter(({ distance }) => distance <= limit)
    .sort((one, other) => one.distance - other.distance);
  return best?.name;
}

/** What to add to a refusal of a name: the known name that was probably meant; nothing where none is like it. */
export function didYouMean(typed: string, names: readonly string[]): string {
  const meant = nearest(typed, names);
  return meant === undefined ? '' : `; did you mean ${meant}?`;
}

/** What refuses a name that is not known: a message with the nearest one, and a hint with all there are. */
export function unknownName(
  what: string,
  typed: string,
  names: readonly string[],
): [message: string, ...hints: string[]] {
  const plural = what.replace(/y$/u, 'ie').replace(/s$/u, 'se').concat('s');
  const all = `${plural.charAt(0).toUpperCase()}${plural.slice(1)}: ${names.join(', ')}`;
  return [
    `there is no ${what} ${JSON.stringify(typed)}${didYouMean(typed, names)}`,
    ...(names.length === 0 ? [] : [all]),
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

/** The one of `names` that a word is. @throws {CliError} USAGE_ERROR naming the nearest */
export function oneOf<Name extends string>(what: string, word: string, names: readonly Name[]): Name {
  const name = names.find(one => one === word);
  if (name !== undefined) return name;
  throw usageError(...unknownName(what, word, names));
}
