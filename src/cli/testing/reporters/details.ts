import { type DiffPart, differences } from '../../outputs/differences.ts';
import { visible } from '../../terminal/sanitise.ts';
import type { Mismatch } from '../expectations/expectation.ts';
import { type EntryResult, hasPassed, type Repetition } from '../result.ts';

/** A line of the details of a result. */
export interface DetailLine {
  readonly kind: 'message' | 'expected' | 'actual' | 'same';
  readonly text: string;
}

/** Lines of a difference, or of an answer, that are shown at most. */
const MOST_LINES = 40;

/** Why an entry did not pass, line by line, harmless to a terminal. */
export async function detailsOf(result: EntryResult): Promise<DetailLine[]> {
  const { repetitions, entry } = result;
  const lines: DetailLine[] = [];
  if (repetitions.length > 1) {
    const passed = repetitions.filter(hasPassed).length;
    lines.push(message(`${passed} of ${repetitions.length} passed, ${entry.testCase.pass} needed`));
  }
  for (const [at, repetition] of repetitions.entries()) {
    const prefix = repetitions.length > 1 ? `run ${at + 1}: ` : '';
    lines.push(...(await repetitionDetails(repetition, prefix)));
  }
  return lines;
}

/** The messages alone, each once, for reports that have one line for a case. */
export function messagesOf({ repetitions }: EntryResult): string[] {
  const messages = repetitions.flatMap(({ fault, mismatches }) =>
    fault === undefined ? mismatches.map(mismatch => visible(inShort(mismatch))) : [faultText(fault)],
  );
  return [...new Set(messages)];
}

/** A mismatch on one line: what was expected, and what came. */
function inShort({ message, expected, actual }: Mismatch): string {
  const quoted = (text: string): string =>
    JSON.stringify(text.length > 200 ? `${text.slice(0, 199)}…` : text);
  const wanted = expected === undefined ? '' : `: expected ${quoted(expected)}`;
  return `${message}${wanted}${actual === undefined ? '' : `, got ${quoted(actual)}`}`;
}

/** What to do about faults, each once. */
export function hintsOf({ repetitions }: EntryResult): string[] {
  return [...new Set(repetitions.flatMap(({ fault }) => fault?.hints.map(visible) ?? []))];
}

export function faultText({ message: text, status }: { message: string; status: string }): string {
  return visible(`${text} (${status})`);
}

async function repetitionDetails({ fault, mismatches }: Repetition, prefix: string): Promise<DetailLine[]> {
  if (fault !== undefined) {
    return [message(`${prefix}${faultText(fault)}`), ...fault.hints.map(hint => message(visible(hint)))];
  }
  const lines: DetailLine[] = [];
  for (const mismatch of mismatches) {
    lines.push(message(`${prefix}line ${mismatch.line}: ${visible(mismatch.message)}`));
    lines.push(...(await difference(mismatch)));
  }
  return lines;
}

async function difference(mismatch: Mismatch): Promise<DetailLine[]> {
  const { expected, actual } = mismatch;
  if (actual === undefined) return [];
  if (expected === undefined) return cut(linesOf(actual, 'actual'));
  const parts = await mismatchParts(mismatch);
  const lines = parts.flatMap(({ kind, text }) => linesOf(text, KINDS[kind]));
  return parts[0]?.kind === 'note' ? lines : cut(lines);
}

const KINDS = { same: 'same', removed: 'expected', added: 'actual', note: 'message' } as const;

/** What was expected and what came, line by line. */
export function mismatchParts({ expected = '', actual = '' }: Mismatch): Promise<DiffPart[]> {
  return differences(ended(expected), ended(actual), 'lines');
}

function ended(text: string): string {
  return text.endsWith('\n') ? text : `${text}\n`;
}

function linesOf(text: string, kind: DetailLine['kind']): DetailLine[] {
  return visible(text.replace(/\n$/u, ''))
    .split('\n')
    .map(line => ({ kind, text: line }));
}

function cut(lines: DetailLine[]): DetailLine[] {
  return lines.length <= MOST_LINES
    ? lines
    : [...lines.slice(0, MOST_LINES), message(`… ${lines.length - MOST_LINES} more lines`)];
}

function message(text: string): DetailLine {
  return { kind: 'message', text };
}

const MARKS = { message: '', expected: '- ', actual: '+ ', same: '  ' } as const;

/** A line with the mark that distinguishes expected from actual. */
export function markedLine({ kind, text }: DetailLine): string {
  return MARKS[kind] + text;
}
