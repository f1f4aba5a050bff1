import type { ChalkInstance } from 'chalk';
import type { GridPart } from '../../outputs/html/grid.ts';
import { escapeControls } from '../../terminal/sanitise.ts';
import { formatEntryName, formatTotals } from '../entry-result.ts';
import type { ReportedResult } from './reported-result.ts';
import { formatSummary, type TestSummary } from './test-summary.ts';

/**
 * Renders the results as a tree of files and cases, with the reasons below each case that did not
 * pass.
 */
export function renderTreeReport(
  results: readonly ReportedResult[],
  paint: ChalkInstance,
  summary: TestSummary,
): string {
  const marks = {
    passed: paint.green('✓'),
    failed: paint.red('✗'),
    undecided: paint.yellow('?'),
    unchecked: paint.dim('-'),
    fault: paint.yellow('!'),
  };

  const lines: string[] = [];
  let file = '';
  for (const result of results) {
    const { entry, status, seconds } = result;
    if (entry.file.name !== file) {
      file = entry.file.name;
      lines.push(paint.bold(escapeControls(file)));
    }

    const time = paint.dim(`(${seconds.toFixed(1)} s)`);
    lines.push(
      `  ${marks[status]} ${escapeControls(formatEntryName(entry))}${paint.dim(formatPassedRate(result))} ${time}`,
    );
    lines.push(...paintDetails(result, paint).map(line => `      ${line}`));
  }

  const haveAllPassed = results.every(
    ({ status }) => status === 'passed' || status === 'unchecked',
  );
  const totals = (haveAllPassed ? paint.green : paint.red)(formatTotals(results));
  const rates = formatSummary(summary).map(line => paint.dim(escapeControls(line)));
  return `${[...lines, '', ...rates, totals].join('\n')}\n`;
}

/** Returns the details of a result in colours, below a legend if they have a difference. */
function paintDetails(result: ReportedResult, paint: ChalkInstance): string[] {
  const details = listFailureDetails(result);
  const colours = { '- ': paint.red, '+ ': paint.green, '  ': paint.dim, '': String };
  const lines = details.map(({ prefix, text }) => colours[prefix](prefix + text));
  const hasDifference = details.some(({ prefix }) => prefix === '- ');
  return hasDifference
    ? [`${paint.red('- expected')}  ${paint.green('+ actual')}`, ...lines]
    : lines;
}

const STATUS_WORDS = {
  passed: 'passed',
  failed: 'FAILED',
  undecided: 'UNDECIDED',
  unchecked: 'UNCHECKED',
  fault: 'ERROR',
} as const;

/** Renders a line for each case, with the reasons below each one that did not pass. */
export function renderLinesReport(
  results: readonly ReportedResult[],
  summary: TestSummary,
): string {
  const lines = results.flatMap(result => {
    const { entry, status, seconds } = result;
    const name = escapeControls(`${entry.file.name}: ${formatEntryName(entry)}`);
    const details = listFailureDetails(result).map(({ prefix, text }) => `    ${prefix}${text}`);
    return [
      `${STATUS_WORDS[status]} ${name}${formatPassedRate(result)} (${seconds.toFixed(1)} s)`,
      ...details,
    ];
  });
  const rates =
    summary.isRepeated || summary.baseline ? formatSummary(summary).map(escapeControls) : [];
  return `${[...lines, ...rates, formatTotals(results)].join('\n')}\n`;
}

/**
 * Returns the pass rate of a repeated case that passed, and its change. A failed case has its rate
 * in the details.
 */
function formatPassedRate({ status, rateText, changeText }: ReportedResult): string {
  const rate = status === 'passed' && rateText !== '' ? ` ${rateText}` : '';
  return changeText === undefined ? rate : `${rate}, ${changeText}`;
}

/** A line about a result that did not pass, safe for a terminal. */
interface DetailLine {
  /** Its beginning: expected, actual, both, or none for a message. */
  readonly prefix: '- ' | '+ ' | '  ' | '';
  readonly text: string;
}

/** Maximum number of lines of a difference or an answer, unless it is short. */
const MAX_SHOWN_DETAILS = 40;

/** Length up to which a text is shown whole, in characters: that of a program's output. */
const MAX_WHOLE_LENGTH = 2000;

/** Returns the reasons that a result did not pass, line by line; nothing if it passed. */
export function listFailureDetails({
  status,
  rateText,
  mergedReasons,
}: ReportedResult): DetailLine[] {
  if (status === 'passed') return [];
  return [
    ...(rateText === '' ? [] : toDetailLines(rateText, '')),
    ...mergedReasons.flatMap(toPartLines),
  ];
}

const DIFFERENCE_PREFIXES = { same: '  ', removed: '- ', added: '+ ', note: '' } as const;

function toPartLines(part: GridPart): DetailLine[] {
  if (part.kind === 'difference') {
    const lines = part.parts.flatMap(({ kind, text }) =>
      toDetailLines(text, DIFFERENCE_PREFIXES[kind]),
    );
    return part.parts[0]?.kind === 'note' ? lines : cutDetailLines(lines);
  }
  if (part.kind === 'text') return cutDetailLines(toDetailLines(part.text, '+ '));
  return part.kind === 'media' ? [] : toDetailLines(part.text, '');
}

function toDetailLines(text: string, prefix: DetailLine['prefix']): DetailLine[] {
  return escapeControls(text.replace(/\n$/u, ''))
    .split('\n')
    .map(line => ({ prefix, text: line }));
}

function cutDetailLines(lines: DetailLine[]): DetailLine[] {
  const length = lines.reduce((sum, { text }) => sum + text.length + 1, -1);
  const hiddenCount = length <= MAX_WHOLE_LENGTH ? 0 : lines.length - MAX_SHOWN_DETAILS;
  if (hiddenCount <= 0) return lines;
  return [
    ...lines.slice(0, MAX_SHOWN_DETAILS),
    { prefix: '', text: `… ${hiddenCount} more lines` },
  ];
}
