import { randomUUID } from 'node:crypto';
import { appendToNamedFile } from '../../../files/writing/write-file.ts';
import { errorMessage } from '../../../utils/error-utils.ts';
import { gridMarkdown } from '../../outputs/pages/grid-markdown.ts';
import { escapeControls } from '../../terminal/sanitise.ts';
import { baselineLines } from '../baseline/compare-with-baseline.ts';
import { entryName } from '../entry-result.ts';
import type { TestSummary } from '../test-summary.ts';
import type { ReportedResult } from './reasons.ts';
import { type ReportMaterial, testsGrid } from './tests-grid.ts';
import { linesReport } from './text-report.ts';

/**
 * Renders the results for a GitHub workflow: plain lines without workflow commands, and an annotation with file and line for
 * each case that did not pass.
 */
export function githubReport(results: readonly ReportedResult[], summary: TestSummary): string {
  const token = randomUUID();
  const annotations = results
    .filter(({ status }) => status !== 'passed' && status !== 'unchecked')
    .map(renderAnnotation);
  return `::stop-commands::${token}\n${linesReport(results, summary)}::${token}::\n${renderBaseline(summary)}${annotations.join('')}`;
}

/** Returns the annotation with a comparison's verdict, which GitHub shows above the files. */
function renderBaseline({ baseline }: TestSummary): string {
  if (baseline === undefined) return '';
  const kind = baseline.rates?.verdict === 'worse' ? 'error' : 'notice';
  const [line = ''] = baselineLines(baseline);
  return `::${kind} title=Baseline::${escapedData(line)}\n`;
}

function renderAnnotation({ entry, repetitions, messages }: ReportedResult): string {
  const line = repetitions.flatMap(({ mismatches }) => mismatches)[0]?.line ?? entry.testCase.line;
  const properties = Object.entries({ file: entry.file.name, line: String(line), title: entryName(entry) })
    .map(([key, value]) => `${key}=${escapedProperty(value)}`)
    .join(',');
  const hints = new Set(repetitions.flatMap(({ fault }) => fault?.hints ?? []));
  return `::error ${properties}::${escapedData([...messages, ...hints].join('\n'))}\n`;
}

// The escapes that the runner's own command parser decodes.
function escapedData(text: string): string {
  return escapeControls(text).replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
}

function escapedProperty(text: string): string {
  return escapedData(text).replaceAll(':', '%3A').replaceAll(',', '%2C');
}

/** Adds the results to the job's summary. Reports a failed write without throwing, because the tests are over. */
export async function writeJobSummary(
  results: readonly ReportedResult[],
  material: ReportMaterial,
  file: string,
  note: (line: string) => void,
): Promise<void> {
  try {
    await appendToNamedFile(file, gridMarkdown(testsGrid(results, material), MAX_SUMMARY));
  } catch (error) {
    note(`note: the job summary can't be written: ${errorMessage(error)}`);
  }
}

/** Maximum length in characters of up to four bytes. GitHub drops a step's whole summary above 1 MiB. */
const MAX_SUMMARY = 250_000;
