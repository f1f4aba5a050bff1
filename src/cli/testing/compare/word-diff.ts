/** A piece of two texts: in both, only in the first, or only in the second. */
export interface DiffPart {
  readonly kind: 'same' | 'removed' | 'added';
  readonly text: string;
}

/** Longer texts are compared by lines: by words it would take too long. */
const MOST_CHARACTERS = 50_000;

/** In what words two texts differ. */
export async function wordDiff(one: string, other: string): Promise<DiffPart[]> {
  const { diffLines, diffWordsWithSpace } = await import('diff');
  const isLong = one.length + other.length > MOST_CHARACTERS;
  const parts = isLong ? diffLines(one, other) : diffWordsWithSpace(one, other);
  return parts.map(({ value, added, removed }) => ({
    kind: added ? 'added' : removed ? 'removed' : 'same',
    text: value,
  }));
}
