import { usageError } from '../../core/errors.ts';
import {
  compareRates,
  formatRateVerdict,
  type RateComparison,
} from '../../statistics/compare-rates.ts';
import { formatPercent } from '../../statistics/interval.ts';
import { areAllEqual } from '../../statistics/nearly-equal.ts';
import { type CaseRuns, computePassRate } from '../../statistics/rates.ts';
import { type EntryResult, formatModelLabel, type TestEntry } from '../entry-result.ts';
import type { Baseline, BaselineCase, CaseName } from './read-baseline.ts';

/** The change of a case's rate. */
export interface CaseChange {
  readonly kind: 'better' | 'worse' | 'same' | 'new';
  /** undefined for a new case. */
  readonly runsBefore: CaseRuns | undefined;
}

/** The comparison of a test with an earlier report. */
export interface BaselineComparison
  extends Record<'better' | 'worse' | 'same' | 'new' | 'gone', readonly CaseName[]> {
  /** The comparison over the pairs of all models; undefined if no pair could be run. */
  readonly rates: RateComparison | undefined;
  /** The changes of the cases that could be run. */
  readonly changes: ReadonlyMap<TestEntry, CaseChange>;
}

/** @throws {CliError} USAGE_ERROR if none of the cases is in the baseline */
export function requireComparable(baseline: Baseline, entries: readonly TestEntry[]): void {
  const { pairs } = pairUp(baseline, entries);
  if (pairs.some(({ baselineCase }) => baselineCase.caseRuns !== undefined)) return;
  throw usageError(
    '--baseline: none of its cases with a rate is in this test',
    'Cases are paired by file, relative to the working directory, name and model.',
  );
}

/** Compares the results of a test with an earlier report, case by case and over all. */
export function compareWithBaseline(
  baseline: Baseline,
  results: readonly EntryResult[],
): BaselineComparison {
  const resultByEntry = new Map(results.map(result => [result.entry, result]));
  const { pairs, addedEntries, goneCases } = pairUp(baseline, [...resultByEntry.keys()]);

  const changes = new Map<TestEntry, CaseChange>();
  const comparedCases: { readonly before: CaseRuns; readonly after: CaseRuns }[] = [];
  for (const { entry, baselineCase } of pairs) {
    const runsBefore = baselineCase.caseRuns;
    const runsAfter = resultByEntry.get(entry)?.caseRuns;
    if (runsBefore === undefined || runsAfter === undefined) continue;

    comparedCases.push({ before: runsBefore, after: runsAfter });
    changes.set(entry, { kind: compareCases(runsBefore, runsAfter), runsBefore });
  }

  for (const entry of addedEntries) {
    if (resultByEntry.get(entry)?.caseRuns !== undefined) {
      changes.set(entry, { kind: 'new', runsBefore: undefined });
    }
  }

  const listCaseNames = (kind: CaseChange['kind']): CaseName[] =>
    [...changes].filter(([, change]) => change.kind === kind).map(([entry]) => toCaseName(entry));
  return {
    rates: compareRates(comparedCases),
    changes,
    better: listCaseNames('better'),
    worse: listCaseNames('worse'),
    same: listCaseNames('same'),
    new: listCaseNames('new'),
    gone: goneCases.map(({ file, name, model }) => ({ file, name, model })),
  };
}

function compareCases(before: CaseRuns, after: CaseRuns): 'better' | 'worse' | 'same' {
  const rateBefore = computePassRate(before);
  const rateAfter = computePassRate(after);
  if (areAllEqual([rateBefore, rateAfter])) return 'same';
  return rateAfter > rateBefore ? 'better' : 'worse';
}

function toCaseName(entry: TestEntry): CaseName {
  const { file, testCase } = entry;
  return { file: file.name, name: testCase.name, model: formatModelLabel(entry) ?? null };
}

/** Cases of a test and of its baseline that belong together, and those on one side only. */
interface Pairing {
  readonly pairs: readonly { readonly entry: TestEntry; readonly baselineCase: BaselineCase }[];
  readonly addedEntries: readonly TestEntry[];
  readonly goneCases: readonly BaselineCase[];
}

/**
 * Pairs cases by file, name and model, duplicates in order; without the model if each side has only
 * one model.
 */
function pairUp({ cases }: Baseline, entries: readonly TestEntry[]): Pairing {
  const modelsOfSides = [cases, entries].map(side => new Set(side.map(({ model }) => model)));
  const hasOneModel = modelsOfSides.every(({ size }) => size <= 1);

  // A baseline may come from another system.
  const getCaseKey = ({ file, name, model }: CaseName): string =>
    JSON.stringify([file.replaceAll('\\', '/').normalize('NFC'), name, hasOneModel ? null : model]);
  const unpairedCasesByKey = new Map<string, BaselineCase[]>();
  for (const testCase of cases) {
    const key = getCaseKey(testCase);
    unpairedCasesByKey.set(key, [...(unpairedCasesByKey.get(key) ?? []), testCase]);
  }

  const pairs: { entry: TestEntry; baselineCase: BaselineCase }[] = [];
  const addedEntries: TestEntry[] = [];
  for (const entry of entries) {
    const baselineCase = unpairedCasesByKey.get(getCaseKey(toCaseName(entry)))?.shift();
    if (baselineCase) {
      pairs.push({ entry, baselineCase });
    } else {
      addedEntries.push(entry);
    }
  }

  const unpairedCases = new Set([...unpairedCasesByKey.values()].flat());
  const goneCases = cases.filter(testCase => unpairedCases.has(testCase));
  return { pairs, addedEntries, goneCases };
}

const COUNTED_KINDS = ['worse', 'better', 'same', 'new', 'gone'] as const;

/**
 * Returns a line with the verdict and its certainty, then one with the numbers of changed cases.
 */
export function formatBaselineComparison(comparison: BaselineComparison): string[] {
  const { rates } = comparison;
  const verdict =
    rates === undefined
      ? 'compared with the baseline: no case could be run'
      : `compared with the baseline: ${formatRateVerdict(rates, 'before')}`;
  const counts = COUNTED_KINDS.map(
    kind => `${comparison[kind].length} ${kind === 'same' ? 'the same' : kind}`,
  );
  return [verdict, `cases: ${counts.join(', ')}${formatCaseNames('gone', comparison.gone)}`];
}

const MAX_SHOWN_NAMES = 5;

function formatCaseNames(kind: string, names: readonly CaseName[]): string {
  if (names.length === 0) return '';
  const shownNames = names.slice(0, MAX_SHOWN_NAMES).map(({ file, name, model }) => {
    return `${file}: ${name}${model === null ? '' : ` [${model}]`}`;
  });
  const hiddenCount = names.length - shownNames.length;
  return `; ${kind}: ${shownNames.join(', ')}${hiddenCount > 0 ? ` and ${hiddenCount} more` : ''}`;
}

/**
 * Returns the change of a case as text, such as `worse than before (100 %)`; undefined if its rate
 * is the same.
 */
export function formatChange(change: CaseChange | undefined): string | undefined {
  if (change === undefined || change.kind === 'same') return undefined;
  if (change.runsBefore === undefined) return 'not in the baseline';
  return `${change.kind} than before (${formatPercent(computePassRate(change.runsBefore))})`;
}
