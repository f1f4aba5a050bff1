/**
 * Returns the name nearest to the typed one; undefined if more than a third of the letters differ.
 * Then returns the only name that begins with the typed one, if that is longer than 3 letters.
 */
export function findNearestName(typed: string, names: readonly string[]): string | undefined {
  const { length } = typed;
  const maxDistance = Math.floor(length / 3);
  const [best] = names
    .map(name => ({
      name,
      distance: computeEditDistance(typed.toLowerCase(), name.toLowerCase(), maxDistance),
    }))
    .filter(({ distance }) => distance <= maxDistance)
    .sort((one, other) => one.distance - other.distance);
  const [completion, ...otherCompletions] = names.filter(name => name.startsWith(typed));

  return best?.name ?? (length > 3 && otherCompletions.length === 0 ? completion : undefined);
}

/**
 * Returns a suffix for the refusal of a name that suggests the nearest one; empty if none is near.
 */
export function didYouMean(typed: string, names: readonly string[]): string {
  return formatSuggestion(findNearestName(typed, names));
}

/** Returns the suffix that suggests a name; empty for none. */
export function formatSuggestion(name: string | undefined): string {
  return name === undefined ? '' : `; did you mean ${name}?`;
}

/** Returns true if one letter of a typed name is missing, added, or swapped with its neighbour. */
export function isTypo(typed: string, name: string): boolean {
  const sortLetters = (text: string): string => Array.from(text).sort().join('');
  return (
    computeEditDistance(typed, name, 1) === 1 &&
    (typed.length !== name.length || sortLetters(typed) === sortLetters(name))
  );
}

/**
 * Counts the letters to insert, delete, replace or swap; `limit + 1` as soon as the lengths alone
 * need more.
 */
function computeEditDistance(from: string, to: string, limit: number): number {
  if (Math.abs(from.length - to.length) > limit) return limit + 1;

  let previousRow: number[] = [];
  let row = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (let i = 1; i <= from.length; i += 1) {
    const nextRow = [i];
    for (let j = 1; j <= to.length; j += 1) {
      const isSame = from[i - 1] === to[j - 1];
      const costs = [
        getCell(row, j) + 1,
        getCell(nextRow, j - 1) + 1,
        getCell(row, j - 1) + (isSame ? 0 : 1),
      ];

      const isSwap = i > 1 && j > 1 && from[i - 1] === to[j - 2] && from[i - 2] === to[j - 1];
      if (isSwap) costs.push(getCell(previousRow, j - 2) + 1);
      nextRow.push(Math.min(...costs));
    }

    previousRow = row;
    row = nextRow;
  }

  return getCell(row, to.length);
}

function getCell(row: readonly number[], index: number): number {
  return row[index] ?? Number.POSITIVE_INFINITY;
}

/**
 * Returns the names, nearest first, by the pairs of neighbouring letters that they share. The
 * lengths of model names differ so much that an edit distance says little.
 */
export function sortByNearness(typed: string, names: readonly string[]): string[] {
  const similarities = new Map(names.map(name => [name, computeSimilarity(name, typed)]));
  return names.toSorted(
    (one, other) => (similarities.get(other) ?? 0) - (similarities.get(one) ?? 0),
  );
}

/** Returns the share of letter pairs that two names have in common, from 0 to 1. */
function computeSimilarity(one: string, other: string): number {
  const [a, b] = [collectLetterPairs(one), collectLetterPairs(other)];
  const common = [...a].filter(pair => b.has(pair)).length;
  return (2 * common) / (a.size + b.size || 1);
}

function collectLetterPairs(name: string): Set<string> {
  const text = name.toLowerCase();
  return new Set(
    Array.from({ length: Math.max(text.length - 1, 0) }, (_, index) =>
      text.slice(index, index + 2),
    ),
  );
}
