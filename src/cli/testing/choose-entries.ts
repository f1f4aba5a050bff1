import type { Context } from '../context.ts';
import { pluralize } from '../core/pluralize.ts';
import { type TestFile, withChosenCases } from './cases/test-case.ts';
import { type FaultyTestFile, isUnchecked } from './entry-result.ts';
import type { Judge } from './judging/judge.ts';
import { findJudgeFaults } from './read-test-files.ts';
import { noteEarlierTurns, withEarlierTurns } from './run/earlier-turns.ts';
import { type LastVerdicts, loadLastVerdicts } from './run/last-verdicts.ts';
import type { PreparedEntry } from './run/prepare-entries.ts';
import { groupByService } from './run/run-by-service.ts';
import type { TestOptions } from './test-options.ts';

interface ChosenEntries {
  readonly entries: readonly PreparedEntry[];
  /** The number of cases that `--failed` leaves out because they passed. */
  readonly passedCount: number;
  /** The faults of files whose chosen cases need a judge that doesn't exist. */
  readonly faultyFiles: readonly FaultyTestFile[];
}

/** Returns the entries that `--failed` chooses; without it, all. */
export async function chooseEntries(
  ctx: Context,
  { failed }: TestOptions,
  entries: readonly PreparedEntry[],
  judge: Judge,
): Promise<ChosenEntries> {
  if (!failed) return { entries, passedCount: 0, faultyFiles: [] };

  const verdicts = await loadLastVerdicts(ctx);
  const chosenEntries = pickFailedEntries(ctx, entries, verdicts);
  if (chosenEntries.length === 0 && !ctx.isReplay) noteReplayedFailures(ctx, entries, verdicts);

  return {
    entries: chosenEntries,
    passedCount: entries.filter(entry => verdicts.find(entry) === 'passed').length,
    // Only the chosen cases of a file need their judges.
    faultyFiles: await findJudgeFaults(ctx, groupByFile(chosenEntries), judge),
  };
}

/**
 * Returns the entries that failed when they were last run, those before them whose answers they
 * take, and those without checks. Reports how many are added for their answers.
 */
function pickFailedEntries(
  ctx: Context,
  entries: readonly PreparedEntry[],
  verdicts: LastVerdicts,
): PreparedEntry[] {
  const checkedEntries = entries.filter(({ entry }) => !isUnchecked(entry.testCase));
  const neededEntries = new Set<PreparedEntry['entry']>();
  for (const [, entriesOfService] of groupByService(checkedEntries)) {
    const failures = entriesOfService.filter(entry => verdicts.find(entry) === 'failed');
    const failuresWithTurns = withEarlierTurns(
      entriesOfService.map(({ entry }) => entry),
      failures.map(({ entry }) => entry),
    );
    noteEarlierTurns(ctx, failuresWithTurns.size - failures.length);
    for (const entry of failuresWithTurns) neededEntries.add(entry);
  }

  return entries.filter(({ entry }) => neededEntries.has(entry) || isUnchecked(entry.testCase));
}

function noteReplayedFailures(
  { io }: Context,
  entries: readonly PreparedEntry[],
  verdicts: LastVerdicts,
): void {
  const failures = entries.filter(entry => verdicts.find(entry, { isReplay: true }) === 'failed');
  if (failures.length === 0) return;
  io.note(
    `note: ${pluralize(failures.length, 'case')} failed with --replay, which is remembered apart: to run only those, add --replay <dir>`,
  );
}

/** Returns the files of entries, with the cases of these entries alone. */
function groupByFile(entries: readonly PreparedEntry[]): TestFile[] {
  const cases = new Set(entries.map(({ entry }) => entry.testCase));
  const files = new Set(entries.map(({ entry }) => entry.file));
  return [...files].map(file => withChosenCases(file, testCase => cases.has(testCase)));
}
