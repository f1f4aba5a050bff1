import { formatOutputData, toCount, toTextOrEmpty } from '../../../files/formats/json-fields.ts';
import { isMedia, type Run } from '../../../wire/index.ts';
import { formatDollars, toMoney } from '../../../wire/money.ts';
import { pluralize } from '../../core/pluralize.ts';
import type { Budget } from '../../creation/spending/budget.ts';
import { formatSpentLines, formatSpentTotals } from '../../creation/spending/spending-text.ts';
import { getFailedRunTokens } from '../../creation/spending/totals.ts';
import { sumSeconds } from '../../jobs/job.ts';
import type { Grid, GridCell, GridPart, GridRow, GridTotal } from '../../outputs/html/grid.ts';
import type { MediaContent } from '../../outputs/media-content.ts';
import { joinTextOutputs } from '../../outputs/output-schema.ts';
import { formatReason } from '../../outputs/run-errors.ts';
import { isFlaky } from '../../statistics/rates.ts';
import type { TestCase } from '../cases/test-case.ts';
import {
  countStatuses,
  formatEntryName,
  formatModelLabel,
  formatTotals,
  type Repetition,
} from '../entry-result.ts';
import { buildCaseRanges, buildSummaryRanges } from './rate-ranges.ts';
import type { ReportedResult } from './reported-result.ts';
import { formatSummary, OWN_MODEL, type TestSummary } from './test-summary.ts';

/** The material of a page that is not in the reported results. */
export interface ReportMaterial {
  /** The pass rates with their intervals. */
  readonly summary: TestSummary;
  /** The images by URL. */
  readonly media: Map<string, MediaContent>;
  /** The spending of the runs. */
  readonly budget: Budget;
}

/** The state on a page for each status of an entry. */
const STATE_BY_STATUS = {
  passed: 'passed',
  failed: 'failed',
  undecided: 'undecided',
  unchecked: 'unchecked',
  fault: 'not run',
} as const;

const STATES_WORST_FIRST = ['not run', 'failed', 'undecided', 'unchecked'] as const;

/** Returns a grid of cases by models. */
export function buildTestsGrid(results: readonly ReportedResult[], material: ReportMaterial): Grid {
  const models = [...new Set(results.map(({ entry }) => formatModelLabel(entry)))];
  const resultsByCase = new Map<TestCase, ReportedResult[]>();
  for (const result of results) {
    const { testCase } = result.entry;
    resultsByCase.set(testCase, [...(resultsByCase.get(testCase) ?? []), result]);
  }

  const { budget } = material;
  return {
    title: 'Prompt tests',
    facts: [
      formatTotals(results),
      ...formatSummary(material.summary),
      ...formatSpentLines(budget, 'cases').map(line => line.trim()),
    ],
    ranges: buildSummaryRanges(material.summary),
    faults: results
      .filter(({ status }) => status !== 'passed')
      .map(({ entry, messages: [message = ''] }) => `${formatEntryName(entry)}: ${message}`),
    columns: models.map(model => ({
      name: model ?? (models.length > 1 ? OWN_MODEL : 'answer'),
      totals: formatTestTotals(
        results.filter(({ entry }) => formatModelLabel(entry) === model),
        material,
      ),
    })),
    rows: [...resultsByCase].map(([testCase, caseResults]) =>
      buildCaseGridRow(testCase, caseResults, models, material),
    ),
  };
}

function formatTestTotals(
  results: readonly ReportedResult[],
  { budget }: ReportMaterial,
): GridTotal[] {
  const { passed, failed, faults } = countStatuses(results);
  const seconds = sumSeconds(results.map(result => result.seconds));
  const spent = budget.computeTotals(listRunIds(results.flatMap(({ repetitions }) => repetitions)));
  return [
    { name: 'passed', value: String(passed) },
    { name: 'failed', value: String(failed) },
    { name: 'not run', value: String(faults) },
    { name: 'time', value: `${seconds.toFixed(1)} s` },
    ...formatSpentTotals(spent, { withCredits: budget.showsCredits }),
  ];
}

function listRunIds(repetitions: readonly Repetition[]): string[] {
  return repetitions.flatMap(({ run }) => run?.runId ?? []);
}

function buildCaseGridRow(
  testCase: TestCase,
  results: readonly ReportedResult[],
  models: readonly (string | undefined)[],
  material: ReportMaterial,
): GridRow {
  const states = results.map(({ status }) => STATE_BY_STATUS[status]);
  const worstState = STATES_WORST_FIRST.find(state => states.includes(state));

  return {
    name: testCase.name,
    place: `${results[0]?.entry.file.name}:${testCase.line}`,
    state: worstState ?? 'passed',
    isFlaky: results.some(({ caseRuns: runs }) => runs !== undefined && isFlaky(runs)),
    inputs: [
      ...testCase.text,
      ...testCase.images.map(
        ({ name, image }, index) => [name ?? `image ${index + 1}`, image.name] as const,
      ),
      ...testCase.options,
    ],
    expected: testCase.expectations.map(({ text }) => text),
    cells: models.map(model => {
      const result = results.find(({ entry }) => formatModelLabel(entry) === model);
      return result && buildGridCell(result, material);
    }),
  };
}

function buildGridCell(result: ReportedResult, material: ReportMaterial): GridCell {
  const { status, seconds, repetitions, rateText, changeText, reasons } = result;
  const { cost } = material.budget.computeTotals(listRunIds(repetitions));
  const tokens = repetitions
    .map(
      ({ run }) =>
        getFailedRunTokens(run, material.budget.getRunSpend(run?.runId ?? '')) ?? run?.tokens,
    )
    .filter(count => count !== undefined);

  const summaries: GridPart[] =
    rateText === '' ? [] : [{ kind: status === 'passed' ? 'text' : 'message', text: rateText }];
  return {
    state: STATE_BY_STATUS[status],
    facts: [
      ...(changeText === undefined ? [] : [changeText]),
      `${seconds.toFixed(1)} s`,
      ...formatTokens(tokens),
      ...(cost === null ? [] : [formatDollars(toMoney(cost))]),
    ],
    ranges: buildCaseRanges(result, material.summary.baseline?.changes.get(result.entry)),
    parts: [
      ...summaries,
      ...repetitions.flatMap(({ run }, index) =>
        buildRepetitionParts(run, reasons[index] ?? [], material),
      ),
    ],
  };
}

/** Returns the sum of the runs' tokens, or each of them if one is not a count. */
function formatTokens(tokens: readonly unknown[]): string[] {
  const counts = tokens.map(toCount).filter(count => count !== undefined);
  const isSum = counts.length > 0 && counts.length === tokens.length;
  const shownCounts = isSum ? [counts.reduce((sum, count) => sum + count)] : tokens;
  return shownCounts.map(count => pluralize(toTextOrEmpty(count), 'token'));
}

/**
 * Returns the mismatches of a repetition, then its answer, unless a difference already shows it.
 */
function buildRepetitionParts(
  run: Run | undefined,
  reasons: readonly GridPart[],
  { media }: ReportMaterial,
): GridPart[] {
  const hasDifference = reasons.some(({ kind }) => kind === 'difference');
  const outputs = (run?.outputs ?? []).flatMap((output): GridPart[] => {
    if (isMedia(output)) return [{ kind: 'media', url: media.get(output.data)?.dataUrl }];
    if (output.type === 'error') return [{ kind: 'error', text: formatReason(output.data) }];
    return hasDifference ? [] : [{ kind: 'text', text: formatOutputData(output.data) }];
  });
  const answer = joinTextOutputs(run?.outputs ?? []);
  const repeatsAnswer = (part: GridPart): boolean =>
    part.kind === 'text' && part.text.trim() === answer.trim();

  return [...reasons.filter(part => !repeatsAnswer(part)), ...outputs];
}
