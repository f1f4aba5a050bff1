import type { Context } from '../../context.ts';
import { CaseFault } from '../../core/errors.ts';
import { pluralize } from '../../core/pluralize.ts';
import type { TestFile } from '../cases/test-case.ts';
import { isUnchecked, type TestEntry } from '../entry-result.ts';
import type { PreparedEntry } from './prepare-entries.ts';

type CaseOfFile = Pick<TestEntry, 'file' | 'testCase'> &
  Partial<Pick<TestEntry, 'model' | 'testedModel'>>;

/** Returns the chosen cases, and those before them whose answers they take. */
export function withEarlierTurns<T extends CaseOfFile>(
  allCases: readonly T[],
  chosenCases: readonly T[],
): ReadonlySet<T> {
  const casesByTurn = new Map<string, T[]>();
  for (const caseOfFile of allCases) {
    const { turn } = caseOfFile.testCase;
    if (!turn) continue;
    const key = getTurnKey(caseOfFile, turn.promptNumber, turn.index);
    casesByTurn.set(key, [...(casesByTurn.get(key) ?? []), caseOfFile]);
  }

  const listEarlierCases = (laterCase: T): T[] => {
    const { turn } = laterCase.testCase;
    if (!turn) return [];
    return turn.afterIndices
      .flatMap(index => casesByTurn.get(getTurnKey(laterCase, turn.promptNumber, index)) ?? [])
      .filter(earlierCase => mayUseAnswer(laterCase, earlierCase));
  };

  const neededCases = new Set(chosenCases);

  // The loop also visits the cases that it adds.
  for (const neededCase of neededCases) {
    for (const earlierCase of listEarlierCases(neededCase)) neededCases.add(earlierCase);
  }

  return neededCases;
}

/** Returns true if the models of two cases fit: an answer in a variable may be any model's. */
function mayUseAnswer(laterCase: CaseOfFile, earlierCase: CaseOfFile): boolean {
  const isInVariable = earlierCase.testCase.turn?.answerVariable !== undefined;
  return isInVariable || getTestedModelKey(earlierCase) === getTestedModelKey(laterCase);
}

function getTurnKey({ file }: CaseOfFile, prompt: number, index: number): string {
  return JSON.stringify([file.path, prompt, index]);
}

/** Adds the cases that the chosen ones take the answers of, and notes how many these are. */
export function addEarlierTurns(ctx: Context, files: readonly TestFile[]): readonly TestFile[] {
  const casesOfFiles = files.flatMap(file =>
    (file.allCases ?? file.cases).map(testCase => ({ file, testCase })),
  );
  const isChosen = ({ file, testCase }: CaseOfFile): boolean => file.cases.includes(testCase);
  if (!casesOfFiles.some(candidate => candidate.testCase.turn && !isChosen(candidate))) {
    return files;
  }

  const chosenCases = casesOfFiles.filter(isChosen);
  const casesWithTurns = withEarlierTurns(casesOfFiles, chosenCases);
  const neededCases = new Set([...casesWithTurns].map(({ testCase }) => testCase));
  noteEarlierTurns(ctx, neededCases.size - chosenCases.length);

  return files.map(file =>
    file.allCases
      ? { ...file, cases: file.allCases.filter(testCase => neededCases.has(testCase)) }
      : file,
  );
}

/** Reports how many cases run although they were not chosen. */
export function noteEarlierTurns({ io }: Context, count: number): void {
  if (count === 0) return;
  io.note(`note: also running ${pluralize(count, 'case')} whose answers the selected ones use`);
}

/**
 * Returns the entries; those that take the answer of one that is not run, because all of its checks
 * are left out, have a fault.
 */
export function withUncheckedTurnFaults(entries: readonly PreparedEntry[]): PreparedEntry[] {
  const testEntries = entries.map(({ entry }) => entry);
  if (!testEntries.some(({ testCase }) => testCase.turn && isUnchecked(testCase))) {
    return [...entries];
  }
  return entries.map(preparedEntry => {
    const { entry } = preparedEntry;
    const { file, testCase } = entry;
    const uncheckedTurn = [...withEarlierTurns(testEntries, [entry])].find(
      earlier => earlier !== entry && isUnchecked(earlier.testCase),
    );
    if (!uncheckedTurn || isUnchecked(testCase)) return preparedEntry;

    const message = `it uses the answer of ${uncheckedTurn.testCase.name}, whose checks are all left out`;
    const fault = new CaseFault(`${file.name}:${testCase.line}: ${message}`);
    return { ...preparedEntry, entry: { ...entry, testCase: { ...testCase, fault } } };
  });
}

export function getTestedModelKey({
  model,
  testedModel,
}: Partial<Pick<TestEntry, 'model' | 'testedModel'>>): string {
  return JSON.stringify([model ?? null, testedModel?.number ?? null]);
}
