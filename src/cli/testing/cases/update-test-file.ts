import { statSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import {
  type Document,
  isMap,
  isScalar,
  isSeq,
  type Node,
  type Pair,
  parseDocument,
  stringify,
  visit,
} from 'yaml';
import { checkBelow, fileIn, PathFault } from '../../../files/writing/write-below.ts';
import { replaceFile } from '../../../files/writing/write-file.ts';
import { isJsonObject } from '../../../utils/bounded-json.ts';
import { errorCode, errorMessage } from '../../../utils/error-utils.ts';
import type { Context } from '../../context.ts';
import { shownPath } from '../../core/shown-path.ts';
import { CliError, usageError } from '../../errors.ts';
import { EXIT } from '../../exit-codes.ts';
import { checkDirectory } from '../../outputs/saving/check-writable.ts';
import { detectShell, shellWord } from '../../terminal/command-line.ts';
import { type EntryResult, entryResult, type Repetition } from '../entry-result.ts';
import type { CheckedAnswer, Unmet, UnmetExpectation } from '../expectations/expectation.ts';
import { KINDS } from '../expectations/expectation-kinds.ts';
import { onlyExpected, parseAnswerJson } from '../expectations/json-match.ts';

/** The result of updating a file. */
interface Updated {
  /** The results, checked against the updated file. */
  readonly results: EntryResult[];
  /** Number of expectations that were written. */
  readonly written: number;
}

/**
 * Refuses a test file that `--update` may not or can't replace, before anything is paid for.
 *
 * @throws {CliError} USAGE_ERROR for a read-only file or folder
 * @throws {LinkFault}
 */
export function checkUpdatable(ctx: Context, file: string): void {
  checkBelow(fileIn(file));
  // This checks the mode, not if the user can write, because root always can.
  const isReadOnly = (statSync(file).mode & 0o222) === 0;
  if (isReadOnly) {
    const shown = shownPath(ctx, file);
    const shell = detectShell(ctx.env);
    const command = shell === 'posix' ? 'chmod u+w' : 'attrib -r';
    throw usageError(
      `--update: ${shown} is read-only`,
      `Check it out for editing, or allow writing with: ${command} ${shellWord(shown, shell)}`,
    );
  }
  checkDirectory(path.dirname(file), '.', '--update');
}

/** Returns the error for a test file that could not be replaced; on Windows, another program may have it open. */
export function updateFault(name: string, cause: unknown, platform = process.platform): unknown {
  if (errorCode(cause) === undefined || cause instanceof PathFault) return cause;
  const isOpen = platform === 'win32' && ['EACCES', 'EBUSY', 'EPERM'].includes(errorCode(cause) ?? '');
  return new CliError(`${name} was not updated: ${errorMessage(cause)}`, {
    status: 'FILE_ERROR',
    exitCode: EXIT.fault,
    hints: isOpen ? ['If another program has it open, close it there, and run the command again.'] : [],
    cause,
  });
}

/**
 * Writes the actual answer as the expected one for every `equals` and `json` directly under an `expect` whose case failed.
 * Changes nothing else in the file. For a case with several models or repetitions, writes the first answer that did not
 * match and checks the others against it.
 */
export async function updateTestFile(file: string, results: readonly EntryResult[]): Promise<Updated> {
  const before = await readFile(file, 'utf8');
  let source = before;
  const expected = new Map<number, NewValue>();
  // Starts at the end, so that a change does not move the places before it.
  for (const { at, text } of failedAnswers(results)) {
    const change = changeAt(source, at, text);
    if (change === undefined) continue;
    source = change.source;
    expected.set(at, change.expected);
  }
  if (source !== before) await replaceFile(fileIn(file), source);
  const checked = await Promise.all(results.map(result => checkAgain(result, expected)));
  return { results: checked, written: expected.size };
}

/** An answer that did not meet the expectation at a place. */
interface FailedAnswer {
  readonly at: number;
  readonly text: string;
}

/** Returns the first answer that failed each expectation, the last place first. */
function failedAnswers(results: readonly EntryResult[]): FailedAnswer[] {
  const answers = new Map<number, string>();
  for (const { status, repetitions } of results) {
    for (const { mismatches } of status === 'passed' ? [] : repetitions) {
      for (const mismatch of mismatches) {
        const answer = comparedAnswer(mismatch);
        if (answer !== undefined && !answers.has(mismatch.at)) answers.set(mismatch.at, answer);
      }
    }
  }
  const failed = [...answers].map(([at, text]) => ({ at, text }));
  return failed.toSorted((one, other) => other.at - one.at);
}

/** Returns the answer as `equals` or `json` saw it, after every transform; undefined if nothing was compared. */
function comparedAnswer({ expected, actual }: Unmet): string | undefined {
  return expected === undefined ? undefined : actual;
}

interface NewValue {
  readonly kind: 'equals' | 'json';
  readonly value: unknown;
}

/** Returns the source with one expectation changed; undefined if the answer can't be written there. */
function changeAt(
  source: string,
  at: number,
  text: string,
): { readonly source: string; readonly expected: NewValue } | undefined {
  const document = parseDocument(source);
  const expectation = expectationAt(document, at);
  if (expectation === undefined) return undefined;
  const { kind, place } = expectation;
  const json = parseAnswerJson(text);
  if (kind === 'json' && 'fault' in json) return undefined;
  const value =
    'value' in json && kind === 'json' ? onlyExpected(nodeData(document, place.node), json.value) : text;
  const changed = valueChanges(document, place, value).reduceRight(withChange, source);
  return readsBackAs(changed, source, at, value) ? { source: changed, expected: { kind, value } } : undefined;
}

interface ValuePlace {
  /** The value's own key, if it has one. */
  readonly key: Node | undefined;
  readonly node: Node | null;
  /** True if the value is in braces or brackets. */
  readonly isInFlow: boolean;
}

/** Returns the expected value at a place, if it can be updated. */
function expectationAt(
  document: Document,
  at: number,
): { readonly kind: NewValue['kind']; readonly pair: Pair; readonly place: ValuePlace } | undefined {
  let expectation: ReturnType<typeof expectationAt>;
  visit(document, {
    Map(_, map) {
      const pair = map.items.find(({ key }) => nodeStart(key) === at);
      if (pair === undefined) return undefined;
      const kind = isScalar(pair.key) ? pair.key.value : undefined;
      if (kind === 'equals' || kind === 'json') {
        expectation = { kind, pair, place: pairPlace(pair, map.flow === true) };
      }
      return visit.BREAK;
    },
  });
  return expectation;
}

function pairPlace({ key, value }: Pair, isInFlow: boolean): ValuePlace {
  return { key: key as Node, node: value as Node | null, isInFlow };
}

function nodeStart(node: unknown): number {
  return (node as Node | null)?.range?.[0] ?? -1;
}

function nodeData(document: Document, node: Node | null): unknown {
  return node?.toJS(document) ?? null;
}

/** Returns true if the changed source has the value at that place and is unchanged everywhere else. */
function readsBackAs(changed: string, source: string, at: number, value: unknown): boolean {
  const now = parseDocument(changed);
  const then = parseDocument(source);
  const former = expectationAt(then, at)?.pair;
  if (now.errors.length > 0 || former === undefined) return false;
  former.value = then.createNode(value);
  return isSameJson(now.toJS(), then.toJS());
}

function isSameJson(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

interface ValueChange extends ValuePlace {
  readonly value: unknown;
}

/** Returns the changes that turn a value into another; in an object or list of the same size, only the differing parts. */
function valueChanges(document: Document, place: ValuePlace, value: unknown): ValueChange[] {
  const { node } = place;
  if (isSameJson(nodeData(document, node), value)) return [];
  if (isMap(node) && isJsonObject(value) && node.items.length === Object.keys(value).length) {
    return node.items.flatMap(pair => {
      const name = isScalar(pair.key) ? String(pair.key.value) : '';
      return valueChanges(document, pairPlace(pair, node.flow === true), value[name]);
    });
  }
  if (isSeq(node) && Array.isArray(value) && node.items.length === value.length) {
    return node.items.flatMap((item, index) => {
      const inner = { key: undefined, node: item as Node | null, isInFlow: node.flow === true };
      return valueChanges(document, inner, value[index]);
    });
  }
  return [{ ...place, value }];
}

/** Writes one change into the source. */
function withChange(source: string, change: ValueChange): string {
  const { key, node } = change;
  const afterKey = (key?.range?.[1] ?? 0) + 1;
  const [start, end] = node?.range ?? [afterKey, afterKey];
  // Text after a block scalar belongs to the file.
  const former = source.slice(start, end);
  const rest = former.slice(former.trimEnd().length);
  const gap = start === end && !/\s/u.test(source[start - 1] ?? '') ? ' ' : '';
  return source.slice(0, start) + gap + yamlText(source, change) + rest + source.slice(end);
}

/** Formats a value for its place: several lines as a block if that reads back unchanged. */
function yamlText(source: string, { key, value, isInFlow }: ValueChange): string {
  if (typeof value !== 'string') return JSON.stringify(value);
  if (!value.includes('\n')) {
    const scalar = stringify(value, { lineWidth: 0 }).trimEnd();
    return isInFlow && /[,[\]{}]/u.test(scalar) ? JSON.stringify(value) : scalar;
  }
  const isPlain = /^\S.*[^\n]\n?$/su.test(value) && !/[^\P{C}\n]|[^\S\n]\n/u.test(value);
  if (key === undefined || isInFlow || !isPlain) return JSON.stringify(value);
  const column = nodeStart(key) - (source.lastIndexOf('\n', nodeStart(key)) + 1);
  const lines = value.replace(/\n$/u, '').replaceAll(/^(?=.)/gmu, ' '.repeat(column + 2));
  const [lineBreak] = /\r?\n/u.exec(source.slice(nodeStart(key))) ?? ['\n'];
  return `${value.endsWith('\n') ? '|' : '|-'}\n${lines}`.replaceAll('\n', lineBreak);
}

/** Checks the answers against the updated file. */
async function checkAgain(
  { entry, repetitions }: EntryResult,
  expected: ReadonlyMap<number, NewValue>,
): Promise<EntryResult> {
  const checkRepetition = async (repetition: Repetition): Promise<Repetition> => {
    const mismatches: UnmetExpectation[] = [];
    for (const mismatch of repetition.mismatches) {
      const now = expected.get(mismatch.at);
      const answer = comparedAnswer(mismatch);
      const unmet = now === undefined || answer === undefined ? mismatch : await unmetBy(answer, now);
      if (unmet !== undefined) mismatches.push({ ...unmet, line: mismatch.line, at: mismatch.at });
    }
    return { ...repetition, mismatches };
  };
  return entryResult(entry, await Promise.all(repetitions.map(checkRepetition)));
}

function unmetBy(text: string, { kind, value }: NewValue): Promise<Unmet | undefined> {
  const { unmet } = kind === 'json' ? KINDS.json.of(value) : KINDS.equals.of({ text: String(value) });
  // `equals` and `json` need only the text.
  return unmet({ text } as CheckedAnswer);
}
