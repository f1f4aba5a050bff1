import { formatNumber } from '../../../utils/format-number.ts';
import { shorten } from '../../../utils/shorten.ts';
import type { Context } from '../../context.ts';
import { computeDifferences } from '../../outputs/differences.ts';
import type { GridPart } from '../../outputs/html/grid.ts';
import { countFurtherRunsNeeded, MAX_FURTHER_RUNS } from '../../statistics/confidence-sequence.ts';
import { formatPassRate } from '../../statistics/interval.ts';
import { computeRateInterval, isFlaky } from '../../statistics/rates.ts';
import { escapeControls } from '../../terminal/sanitise.ts';
import { formatChange } from '../baseline/compare-with-baseline.ts';
import { formatRequiredPasses } from '../cases/pass-rule.ts';
import { type EntryResult, hasPassed, type Repetition } from '../entry-result.ts';
import type { UnmetExpectation } from '../expectations/expectation.ts';
import type { TestSummary } from './test-summary.ts';

/** Maximum length of an expected or actual text in a short message, in characters. */
const MAX_QUOTED_LENGTH = 200;

/** A result with the reasons that it did not pass, for every report. */
export interface ReportedResult extends EntryResult {
  /** The pass rate with its interval if there are several repetitions; otherwise empty. */
  readonly rateText: string;
  /** The change of its rate from the baseline; undefined if there is none. */
  readonly changeText: string | undefined;
  /**
   * The messages of each repetition, each with the answer or its difference from the expected one.
   */
  readonly reasons: readonly (readonly GridPart[])[];
  /** The reasons of all repetitions: equal ones appear once, under the numbers of their runs. */
  readonly mergedReasons: readonly GridPart[];
  /** Short forms of the messages without duplicates, one line each with expected and actual. */
  readonly messages: readonly string[];
}

/** Adds the reasons, with the differences that reports show. */
export async function withReasons(
  ctx: Context,
  results: readonly EntryResult[],
  { baseline }: Pick<TestSummary, 'baseline'>,
): Promise<ReportedResult[]> {
  const reportedResults: ReportedResult[] = [];
  for (const result of nameFaultOnce(results)) {
    const { repetitions, entry } = result;
    const reasons: GridPart[][] = [];
    for (const repetition of repetitions) {
      reasons.push(await buildFailureReasons(ctx, repetition, entry.file.name));
    }

    const isRepeated = repetitions.length > 1;
    const numberedReasons = reasons.map((parts, index) => withPrefix(parts, `run ${index + 1}: `));
    const undecidedText = explainUndecided(result);
    reportedResults.push({
      ...result,
      rateText: [formatRateText(result), undecidedText].filter(text => text !== '').join('; '),
      changeText: formatChange(baseline?.changes.get(entry)),
      reasons: isRepeated ? numberedReasons : reasons,
      mergedReasons: isRepeated ? mergeEqualReasons(reasons) : reasons.flat(),
      messages: [...(undecidedText === '' ? [] : [undecidedText]), ...listMessages(repetitions)],
    });
  }
  return reportedResults;
}

/**
 * Returns passed runs with the interval of their rate, such as `7 of 10 (40–89 %), flaky`; without
 * the interval if the runs give no rate, and empty for a single repetition.
 */
function formatRateText({ caseRuns, entry, status, repetitions }: EntryResult): string {
  const hasRate = caseRuns !== undefined && (caseRuns.runs > 1 || status === 'undecided');
  if (!hasRate) {
    const passedCount = repetitions.filter(hasPassed).length;
    return repetitions.length > 1 ? `${passedCount} of ${repetitions.length} passed` : '';
  }

  const { passed, runs } = caseRuns;
  const rate = formatPassRate(passed, runs, computeRateInterval(caseRuns));
  const flaky = isFlaky(caseRuns) ? ', flaky' : '';
  const needed =
    status === 'passed' ? '' : `, ${formatRequiredPasses(entry.testCase.passRule, runs)}`;
  return `${rate}${flaky}${needed}`;
}

/** Returns a text on an undecided case with the runs that would probably decide it; else empty. */
function explainUndecided({ status, caseRuns, entry }: EntryResult): string {
  const { passRule } = entry.testCase;
  if (status !== 'undecided' || caseRuns === undefined || passRule.kind !== 'rate') return '';
  const furtherRunCount = countFurtherRunsNeeded(passRule.rate, caseRuns.passed, caseRuns.runs);
  const runs =
    furtherRunCount === undefined
      ? `more than ${formatNumber(MAX_FURTHER_RUNS)} more`
      : `about ${formatNumber(furtherRunCount)} more`;
  return `not enough runs to say: ${runs} would probably decide`;
}

/** Gives the fault that stopped a test to the first repetition that it postponed, and refers to it in the others. */
function nameFaultOnce(results: readonly EntryResult[]): EntryResult[] {
  const firstPostponed = results
    .flatMap(({ repetitions }) => repetitions)
    .find(({ fault, isPostponed }) => isPostponed && fault !== undefined);
  const message = 'not run because of the fault above';

  return results.map(result => ({
    ...result,
    repetitions: result.repetitions.map(repetition => {
      const { fault, isPostponed } = repetition;
      const isNamedAbove = isPostponed && fault !== undefined && repetition !== firstPostponed;
      if (!isNamedAbove) return repetition;

      const { status, data, exitCode } = fault;
      return { ...repetition, fault: { status, data, exitCode, message, hints: [] } };
    }),
  }));
}

async function buildFailureReasons(
  ctx: Context,
  { fault, mismatches }: Repetition,
  file: string,
): Promise<GridPart[]> {
  if (fault !== undefined) {
    const text = [`${fault.message} (${fault.status})`, ...fault.hints].join('\n');
    return [{ kind: 'error', text }];
  }

  const parts: GridPart[] = [];
  for (const { line, message, expected, actual } of mismatches) {
    parts.push({ kind: 'message', text: `${file}:${line}: ${message}` });
    if (actual === undefined) continue;

    if (expected === undefined) {
      parts.push({ kind: 'text', text: actual });
    } else {
      const oldText = withLineEnd(expected);
      const newText = withLineEnd(actual);
      const differences = await computeDifferences(ctx, oldText, newText, 'lines');
      parts.push({ kind: 'difference', parts: differences });
    }
  }

  return parts;
}

/** Puts the numbers of runs before messages and errors. */
function withPrefix(parts: readonly GridPart[], prefix: string): GridPart[] {
  return parts.map(part =>
    part.kind === 'message' || part.kind === 'error'
      ? { ...part, text: `${prefix}${part.text}` }
      : part,
  );
}

/** Joins the reasons of repetitions, equal ones under the numbers of all their runs. */
function mergeEqualReasons(reasons: readonly (readonly GridPart[])[]): GridPart[] {
  const groups = new Map<
    string,
    { readonly parts: readonly GridPart[]; readonly runNumbers: number[] }
  >();
  for (const [index, parts] of reasons.entries()) {
    const key = JSON.stringify(parts);
    const group = groups.get(key) ?? { parts, runNumbers: [] };
    groups.set(key, group);
    group.runNumbers.push(index + 1);
  }
  return [...groups.values()].flatMap(({ parts, runNumbers }) => {
    const noun = runNumbers.length === 1 ? 'run' : 'runs';
    return withPrefix(parts, `${noun} ${formatRanges(runNumbers)}: `);
  });
}

/** Returns ascending numbers as text, such as `1–3, 5`. */
function formatRanges(numbers: readonly number[]): string {
  const ranges: [number, number][] = [];
  for (const number of numbers) {
    const lastRange = ranges.at(-1);
    if (lastRange?.[1] === number - 1) {
      lastRange[1] = number;
    } else {
      ranges.push([number, number]);
    }
  }
  return ranges
    .map(([first, last]) => (first === last ? `${first}` : `${first}–${last}`))
    .join(', ');
}

function withLineEnd(text: string): string {
  return text.endsWith('\n') ? text : `${text}\n`;
}

function listMessages(repetitions: readonly Repetition[]): string[] {
  const messages = repetitions.flatMap(({ fault, mismatches }) =>
    fault === undefined
      ? mismatches.map(formatShortMismatch)
      : [`${fault.message} (${fault.status})`],
  );
  return [...new Set(messages.map(escapeControls))];
}

function formatShortMismatch({ message, expected, actual }: UnmetExpectation): string {
  const quoteText = (text: string): string => JSON.stringify(shorten(text, MAX_QUOTED_LENGTH));
  const expectedText = expected === undefined ? '' : `: expected ${quoteText(expected)}`;
  return `${message}${expectedText}${actual === undefined ? '' : `, got ${quoteText(actual)}`}`;
}
