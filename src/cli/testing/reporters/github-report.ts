import { randomUUID } from 'node:crypto';
import { appendToNamedFile } from '../../../files/writing/write-file.ts';
import { getErrorMessage } from '../../../utils/error-utils.ts';
import { renderGridMarkdown } from '../../outputs/html/grid-markdown.ts';
import { escapeControls } from '../../terminal/sanitise.ts';
import { formatBaselineComparison } from '../baseline/compare-with-baseline.ts';
import { formatEntryName } from '../entry-result.ts';
import type { ReportedResult } from './reported-result.ts';
import type { TestSummary } from './test-summary.ts';
import { buildTestsGrid, type ReportMaterial } from './tests-grid.ts';
import { renderLinesReport } from './text-report.ts';

/**
 * Maximum length of a summary, in characters, which have up to four bytes each. GitHub drops a
 * step's whole summary above 1 MiB.
 */
const MAX_SUMMARY_LENGTH = 250_000;

/**
 * Renders the results for a GitHub workflow: plain lines without workflow commands, and an
 * annotation with file and line for each case that did not pass.
 */
export function renderGithubReport(
  results: readonly ReportedResult[],
  summary: TestSummary,
): string {
  const token = randomUUID();
  const annotations = results
    .filter(({ status }) => status !== 'passed' && status !== 'unchecked')
    .map(renderAnnotation);
  return `::stop-commands::${token}\n${renderLinesReport(results, summary)}::${token}::\n${renderBaseline(summary)}${annotations.join('')}`;
}

/** Returns the annotation with a comparison's verdict, which GitHub shows above the files. */
function renderBaseline({ baseline }: TestSummary): string {
  if (baseline === undefined) return '';
  const kind = baseline.rates?.verdict === 'worse' ? 'error' : 'notice';
  const [line = ''] = formatBaselineComparison(baseline);
  return `::${kind} title=Baseline::${escapeData(line)}\n`;
}

function renderAnnotation({ entry, repetitions, messages }: ReportedResult): string {
  const line = repetitions.flatMap(({ mismatches }) => mismatches)[0]?.line ?? entry.testCase.line;
  const properties = Object.entries({
    file: entry.file.name,
    line: String(line),
    title: formatEntryName(entry),
  })
    .map(([key, value]) => `${key}=${escapeProperty(value)}`)
    .join(',');

  const hints = new Set(repetitions.flatMap(({ fault }) => fault?.hints ?? []));
  return `::error ${properties}::${escapeData([...messages, ...hints].join('\n'))}\n`;
}

// The escapes that the runner's own command parser decodes.
function escapeData(text: string): string {
  return escapeControls(text)
    .replaceAll('%', '%25')
    .replaceAll('\r', '%0D')
    .replaceAll('\n', '%0A');
}

function escapeProperty(text: string): string {
  return escapeData(text).replaceAll(':', '%3A').replaceAll(',', '%2C');
}

/**
 * Adds the results to the job's summary. Reports a failed write without throwing, because the tests
 * are over.
 */
export async function writeJobSummary(
  results: readonly ReportedResult[],
  material: ReportMaterial,
  file: string,
  note: (line: string) => void,
): Promise<void> {
  try {
    await appendToNamedFile(
      file,
      renderGridMarkdown(buildTestsGrid(results, material), MAX_SUMMARY_LENGTH),
    );
  } catch (error) {
    note(`note: the job summary can't be written: ${getErrorMessage(error)}`);
  }
}
