import { formatSpentProperties } from '../../creation/spending/spending-text.ts';
import type { Totals } from '../../creation/spending/totals.ts';
import { sumSeconds } from '../../jobs/job.ts';
import { type Html, html } from '../../outputs/html/html.ts';
import {
  type BaselineComparison,
  formatBaselineComparison,
} from '../baseline/compare-with-baseline.ts';
import { countStatuses, formatEntryName } from '../entry-result.ts';
import type { ReportedResult } from './reported-result.ts';
import type { TestSummary } from './test-summary.ts';
import { listFailureDetails } from './text-report.ts';

type SuiteProperty = readonly [name: string, value: string];

/**
 * Renders the results as JUnit XML: `failure` for a mismatch or a failed run, `error` for a case
 * that could not be run. The properties of the first suite have the total spending.
 */
export function renderJunitReport(
  results: readonly ReportedResult[],
  spentTotals: Totals,
  { overall, baseline }: TestSummary,
): string {
  const files = [...new Set(results.map(({ entry }) => entry.file.name))];
  const properties = [
    ...listRateProperties(overall),
    ...listBaselineProperties(baseline),
    ...formatSpentProperties(spentTotals),
  ].map(
    ([name, value]) =>
      html`      <property name="${replaceInvalidXml(name)}" value="${replaceInvalidXml(value)}"/>\n`,
  );

  const suites = files.map((file, index) => {
    const resultsOfFile = results.filter(({ entry }) => entry.file.name === file);
    return html`  <testsuite name="${replaceInvalidXml(file)}" ${renderCountAttributes(resultsOfFile)}>
${index === 0 ? [html`    <properties>\n${properties}    </properties>\n`] : []}${resultsOfFile.map(renderTestCase)}  </testsuite>
`;
  });
  const { text } = html`<?xml version="1.0" encoding="UTF-8"?>
<testsuites ${renderCountAttributes(results)}>
${suites}</testsuites>
`;
  return text;
}

function listRateProperties(overall: TestSummary['overall']): SuiteProperty[] {
  if (!overall) return [];
  return [
    ['rate', String(overall.rate)],
    ['interval', overall.interval.join(' ')],
  ];
}

/** Returns the figures of a comparison, and its verdict in one line. */
function listBaselineProperties(baseline: BaselineComparison | undefined): SuiteProperty[] {
  if (baseline === undefined) return [];

  const [line = ''] = formatBaselineComparison(baseline);
  const { rates } = baseline;
  if (rates === undefined) return [['baseline', line]];

  return [
    ['baseline', line],
    ['baseline.verdict', rates.verdict],
    ['baseline.p', String(rates.pValue)],
    ['baseline.difference', String(rates.difference)],
    ['baseline.interval', rates.interval.join(' ')],
    ['baseline.smallest', String(rates.smallestDetectable)],
  ];
}

function renderCountAttributes(results: readonly ReportedResult[]): Html {
  const { failed, undecided, unchecked, faults } = countStatuses(results);
  const seconds = sumSeconds(results.map(result => result.seconds));
  return html`tests="${results.length}" failures="${failed + undecided}" errors="${faults}" skipped="${unchecked}" time="${seconds.toFixed(3)}"`;
}

function renderTestCase(result: ReportedResult): Html {
  const { entry, status, seconds, messages } = result;
  const file = replaceInvalidXml(entry.file.name);
  const attributes = html`classname="${file}" name="${replaceInvalidXml(formatEntryName(entry))}" file="${file}" line="${entry.testCase.line}" time="${seconds.toFixed(3)}"`;
  if (status === 'passed') return html`    <testcase ${attributes}/>\n`;

  if (status === 'unchecked') {
    return html`    <testcase ${attributes}>\n      <skipped message="unchecked: all of its checks were left out"/>\n    </testcase>\n`;
  }

  const details = replaceInvalidXml(
    listFailureDetails(result)
      .map(({ prefix, text }) => prefix + text)
      .join('\n'),
  );

  const message = html`message="${replaceInvalidXml(messages[0] ?? status)}"`;
  const fault =
    status === 'failed' || status === 'undecided'
      ? html`<failure ${message} type="mismatch">${details}</failure>`
      : html`<error ${message} type="fault">${details}</error>`;

  return html`    <testcase ${attributes}>
      ${fault}
      <system-out>${details}</system-out>
    </testcase>
`;
}

/** Replaces characters that are invalid in XML; `html` escapes or shows all others. */
function replaceInvalidXml(text: string): string {
  return text.replace(/[\uFFFE\uFFFF\p{Surrogate}]/gu, '\uFFFD');
}
