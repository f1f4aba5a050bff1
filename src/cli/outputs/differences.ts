/** A piece of two texts: in both, only in the first, or only in the second; or what is said about all of them. */
export interface DiffPart {
  readonly kind: 'same' | 'removed' | 'added' | 'note';
  readonly text: string;
}

/** Above it, differences are counted, not shown: finding the fewest takes the square of them. */
const MOST_LINES = 2000;
const FIRST_LINES = 50;
/** Longer texts are compared by lines. */
const MOST_CHARACTERS_BY_WORDS = 50_000;

/** The differences of two texts. Of more than 2,000 lines that differ, their number and the first 50. */
export async function differences(one: string, other: string, by: 'words' | 'lines'): Promise<DiffPart[]> {
  const { diffLines, diffWordsWithSpace } = await import('diff');
  const bound = { maxEditLength: 2 * MOST_LINES };
  const isShort = by === 'words' && one.length + other.length <= MOST_CHARACTERS_BY_WORDS;
  const changes =
    (isShort ? diffWordsWithSpace(one, other, bound) : undefined) ?? diffLines(one, other, bound);
  const differing = changes?.filter(({ added, removed }) => added || removed) ?? [];
  const lines = Math.max(...[true, false].map(isAdded => sum(differing, isAdded)));
  if (changes === undefined || (!isShort && lines > MOST_LINES)) return countedDifferences(one, other);
  return changes.map(({ value: text, added, removed }) => ({
    kind: added ? 'added' : removed ? 'removed' : 'same',
    text,
  }));
}

function sum(
  changes: readonly { readonly added: boolean; readonly count: number }[],
  isAdded: boolean,
): number {
  return changes.reduce((lines, { added, count }) => lines + (added === isAdded ? count : 0), 0);
}

/** Line by line, from where the texts begin to differ to where they are the same up to their ends. */
function countedDifferences(one: string, other: string): DiffPart[] {
  const [removed, added] = [one.split('\n'), other.split('\n')];
  while (removed.length > 0 && added.length > 0 && removed.at(-1) === added.at(-1)) {
    removed.pop();
    added.pop();
  }
  const differing = Array.from({ length: Math.max(removed.length, added.length) }, (_, at) => at).filter(
    at => removed[at] !== added[at],
  );
  const note = `${differing.length.toLocaleString('en')} lines differ; the first ${FIRST_LINES}:\n`;
  const shown = differing
    .slice(0, FIRST_LINES)
    .flatMap((at): DiffPart[] => [
      ...(at < removed.length ? [{ kind: 'removed', text: `${removed[at]}\n` } as const] : []),
      ...(at < added.length ? [{ kind: 'added', text: `${added[at]}\n` } as const] : []),
    ]);
  return [{ kind: 'note', text: note }, ...shown];
}
