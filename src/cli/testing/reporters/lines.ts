import { visible } from '../../terminal/sanitise.ts';
import { type EntryResult, entryName, totalsOf, totalsText } from '../result.ts';
import { detailsOf, markedLine } from './details.ts';

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
