import type { ChalkInstance } from 'chalk';
import { visible } from '../../terminal/sanitise.ts';
import { type EntryResult, type EntryStatus, entryName, totalsOf, totalsText } from '../result.ts';
import { type DetailLine, detailsOf, markedLine } from './details.ts';

/** The results as a tree: files, their cases, and below each that did not pass, why. */
export async function treeReport(results: readonly EntryResult[], paint: ChalkInstance): Promise<string> {
  const lines: string[] = [];
  let file = '';
  for (const result of results) {
    const { name } = result.entry.file;
    if (name !== file) {
      file = name;
      lines.push(paint.bold(visible(name)));
    }
    lines.push(entryLine(result, paint), ...(await detailLines(result, paint)));
  }
  return `${lines.join('\n')}\n\n${summaryLine(results, paint)}\n`;
}

function entryLine(result: EntryResult, paint: ChalkInstance): string {
  const marks: Record<EntryStatus, string> = {
    passed: paint.green('✓'),
    failed: paint.red('✗'),
    fault: paint.yellow('!'),
  };
  const seconds = paint.dim(`(${result.seconds.toFixed(1)} s)`);
  return `  ${marks[result.status]} ${visible(entryName(result.entry))} ${seconds}`;
}

async function detailLines(result: EntryResult, paint: ChalkInstance): Promise<string[]> {
  if (result.status === 'passed') {
    return [];
  }
  const colours: Record<DetailLine['kind'], (text: string) => string> = {
    message: text => text,
    expected: paint.red,
    actual: paint.green,
    same: paint.dim,
  };
  const details = await detailsOf(result);
  const legend = details.some(({ kind }) => kind === 'expected')
    ? [`      ${paint.red('- expected')}  ${paint.green('+ actual')}`]
    : [];
  return [...legend, ...details.map(line => `      ${colours[line.kind](markedLine(line))}`)];
}

function summaryLine(results: readonly EntryResult[], paint: ChalkInstance): string {
  const totals = totalsOf(results);
  const text = totalsText(totals);
  return totals.failed + totals.faults === 0 ? paint.green(text) : paint.red(text);
}

const WORDS = { passed: 'passed', failed: 'FAILED', fault: 'ERROR' } as const;

/** A line for each case, and below each that did not pass, why. */
export async function linesReport(results: readonly EntryResult[]): Promise<string> {
  const lines: string[] = [];
  for (const result of results) {
    const { entry, status, seconds } = result;
    const name = visible(`${entry.file.name}: ${entryName(entry)}`);
    lines.push(`${WORDS[status]} ${name} (${seconds.toFixed(1)} s)`);
    if (status !== 'passed') {
      lines.push(...(await detailsOf(result)).map(line => `    ${markedLine(line)}`));
    }
  }
  return `${[...lines, totalsText(totalsOf(results))].join('\n')}\n`;
}
