import { randomUUID } from 'node:crypto';
import { appendFile } from 'node:fs/promises';
import { messageOf } from '../../../files/error-utils.ts';
import { htmlText } from '../../outputs/html.ts';
import { visible } from '../../terminal/sanitise.ts';
import { type EntryResult, entryName, totalsOf, totalsText } from '../result.ts';
import { detailsOf, hintsOf, markedLine, messagesOf } from './details.ts';
import { linesReport } from './text.ts';

/**
 * The results as a GitHub workflow reads them: plain lines that it takes no command from, and an annotation with file
 * and line for each case that did not pass.
 */
export async function githubReport(results: readonly EntryResult[]): Promise<string> {
  const token = randomUUID();
  const annotations = results.filter(({ status }) => status !== 'passed').map(annotation);
  return `::stop-commands::${token}\n${await linesReport(results)}::${token}::\n${annotations.join('')}`;
}

function annotation(result: EntryResult): string {
  const { entry, repetitions } = result;
  const line = repetitions.flatMap(({ mismatches }) => mismatches)[0]?.line ?? entry.testCase.line;
  const properties = Object.entries({ file: entry.file.name, line: String(line), title: entryName(entry) })
    .map(([key, value]) => `${key}=${escapedProperty(value)}`)
    .join(',');
  return `::error ${properties}::${escapedData([...messagesOf(result), ...hintsOf(result)].join('\n'))}\n`;
}

// As the runner's own command parser undoes it.
function escapedData(text: string): string {
  return visible(text).replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
}

function escapedProperty(text: string): string {
  return escapedData(text).replaceAll(':', '%3A').replaceAll(',', '%2C');
}

/** Adds the results to the job's summary; a fault is reported, never thrown: the tests are over. */
export async function writeJobSummary(
  results: readonly EntryResult[],
  file: string,
  note: (line: string) => void,
): Promise<void> {
  try {
    await appendFile(file, await jobSummary(results));
  } catch (error) {
    note(`note: the job summary can't be written: ${messageOf(error)}`);
  }
}

const ICONS = { passed: '✅', failed: '❌', fault: '⚠️' } as const;

async function jobSummary(results: readonly EntryResult[]): Promise<string> {
  const rows = results.map(
    ({ entry, status, seconds }) =>
      `<tr><td>${ICONS[status]}</td><td>${html(entry.file.name)}</td><td>${html(entryName(entry))}</td><td>${seconds.toFixed(1)} s</td></tr>`,
  );
  const details: string[] = [];
  for (const result of results.filter(({ status }) => status !== 'passed')) {
    const text = (await detailsOf(result)).map(markedLine).join('\n');
    details.push(
      `<details><summary>${html(entryName(result.entry))}</summary><pre>${html(text)}</pre></details>`,
    );
  }
  const heading = `### Prompt tests: ${totalsText(totalsOf(results))}`;
  const shownRows = fitting(rows, LONGEST_SUMMARY / 2);
  const shownDetails = fitting(details, LONGEST_SUMMARY / 2);
  const isWhole = shownRows.length === rows.length && shownDetails.length === details.length;
  const end = isWhole ? '' : 'The rest is in the log: a summary can be no longer than this.\n\n';
  return `${heading}\n\n<table>${shownRows.join('')}</table>\n\n${shownDetails.join('\n')}\n\n${end}`;
}

/** In bytes. GitHub drops a step's whole summary where it is longer than 1 MiB. */
const LONGEST_SUMMARY = 1_000_000;

/** The first of these texts, as many as fit, each with a line break. */
function fitting(texts: readonly string[], bytes: number): string[] {
  let left = bytes;
  return texts.filter(text => {
    left -= Buffer.byteLength(text) + 1;
    return left >= 0;
  });
}

/** Text inside HTML inside Markdown: an empty line would end the HTML block. */
function html(text: string): string {
  return htmlText(text).replaceAll('\n', '&#10;');
}
