import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { DOCUMENTED } from '../../support/providers/documented-answers.ts';
import { type Reading, readByEngine, readByPackage } from '../../support/providers/readings.ts';

// Answers are read by our own readers, and compared here with what the packages that build the
// requests make of them. What a package reads otherwise is kept in read-otherwise.txt: a release
// that reads something else turns this test red.
// `npx vitest run test/models/providers/readers.test.ts --update` writes the file anew.

const NOTHING: Reading = { text: '', end: 'whole', tokens: undefined, pictures: [] };

const CASES = DOCUMENTED.flatMap(({ from, ...documented }) =>
  from.map(asked => ({ asked, ...documented })),
);

describe('an answer', () => {
  it.each(CASES)(
    'with $what from $asked.engine is read as it says',
    async ({ asked, answer, says }) => {
      expect(await readByEngine(asked, answer)).toEqual({ ...NOTHING, ...says });
    },
  );

  it('is read alike by the packages, apart from the listed differences', async () => {
    const lines = await Promise.all(
      CASES.map(async ({ what, asked, answer, says }) => {
        const read = await tryReadByPackage(asked, answer);
        return listDifferences(read, { ...NOTHING, ...says }).map(
          line => `${what}, ${asked.engine}: ${line}\n`,
        );
      }),
    );
    const file = path.join(import.meta.dirname, 'read-otherwise.txt');
    await expect(lines.flat().join('')).toMatchFileSnapshot(file);
  });
});

/** Reads an answer with a package; returns the package's error if it can't read it. */
async function tryReadByPackage(
  ...asked: Parameters<typeof readByPackage>
): Promise<Reading | { fails: string }> {
  try {
    return await readByPackage(...asked);
  } catch (error) {
    return { fails: error instanceof Error ? error.name : 'with something that is not an error' };
  }
}

/** Returns the differences from the expected reading, one line each. */
function listDifferences(read: Reading | { fails: string }, says: Reading): string[] {
  if ('fails' in read) return [`can’t be read (${read.fails})`];
  return (['text', 'end', 'tokens', 'pictures'] as const).flatMap(key => {
    const [actual, expected] = [
      JSON.stringify(read[key] ?? null),
      JSON.stringify(says[key] ?? null),
    ];
    return actual === expected ? [] : [`${key} ${actual} in place of ${expected}`];
  });
}
