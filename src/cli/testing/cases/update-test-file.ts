import { statSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import {
  PathFault,
  resolveContainedPath,
  toContainedPath,
} from '../../../files/writing/write-below.ts';
import { replaceFile } from '../../../files/writing/write-file.ts';
import { getErrorCode, getErrorMessage } from '../../../utils/error-utils.ts';
import type { Context } from '../../context.ts';
import { CliError, usageError } from '../../core/errors.ts';
import { EXIT } from '../../core/exit-codes.ts';
import { formatPath } from '../../core/paths.ts';
import { checkDirectory } from '../../outputs/saving/check-writable.ts';
import { detectShell, quoteIfNeeded } from '../../terminal/shell-words.ts';
import { computeEntryResult, type EntryResult, type Repetition } from '../entry-result.ts';
import type { CheckedAnswer, UnmetExpectation, UnmetPart } from '../expectations/expectation.ts';
import { EXPECTATION_KINDS } from '../expectations/expectation-kinds.ts';
import { changeExpectation, type NewValue } from './edit-expectation.ts';

/** The results of a file's cases after its update. */
interface UpdateResult {
  /** The results, checked against the updated file. */
  readonly results: EntryResult[];
  /** The number of expectations that were written. */
  readonly writtenCount: number;
}

/**
 * Refuses a test file that `--update` may not or can't replace, before anything is paid for.
 *
 * @throws {CliError} USAGE_ERROR for a read-only file or folder
 * @throws {LinkFault} for a link in place of the file
 */
export function checkUpdatable(ctx: Context, file: string): void {
  resolveContainedPath(toContainedPath(file));

  // This checks the mode, not if the user can write, because root always can.
  const isReadOnly = (statSync(file).mode & 0o222) === 0;
  if (isReadOnly) {
    const filePath = formatPath(ctx, file);
    const shell = detectShell(ctx.env);
    const command = shell === 'posix' ? 'chmod u+w' : 'attrib -r';
    throw usageError(
      `--update: ${filePath} is read-only`,
      `Check it out for editing, or allow writing with: ${command} ${quoteIfNeeded(filePath, shell)}`,
    );
  }

  checkDirectory(path.dirname(file), '.', '--update');
}

/**
 * Returns the error for a test file that could not be replaced; on Windows, another program may
 * have it open.
 */
export function toUpdateError(name: string, cause: unknown, platform = process.platform): unknown {
  if (getErrorCode(cause) === undefined || cause instanceof PathFault) return cause;
  const isOpen =
    platform === 'win32' && ['EACCES', 'EBUSY', 'EPERM'].includes(getErrorCode(cause) ?? '');
  return new CliError(`${name} was not updated: ${getErrorMessage(cause)}`, {
    status: 'FILE_ERROR',
    exitCode: EXIT.fault,
    hints: isOpen
      ? ['If another program has it open, close it there, and run the command again.']
      : [],
    cause,
  });
}

/**
 * Writes the actual answer as the expected one for every `equals` and `json` directly under an
 * `expect` whose case failed. Changes nothing else in the file. For a case with several models or
 * repetitions, writes the first answer that did not match and checks the others against it.
 */
export async function updateTestFile(
  file: string,
  results: readonly EntryResult[],
): Promise<UpdateResult> {
  const sourceBefore = await readFile(file, 'utf8');
  let source = sourceBefore;
  const newValues = new Map<number, NewValue>();

  // Starts at the end, so that a change does not move the places before it.
  for (const { offset, text } of listFailedAnswers(results)) {
    const change = changeExpectation(source, offset, text);
    if (change === undefined) continue;
    source = change.source;
    newValues.set(offset, change.newValue);
  }

  if (source !== sourceBefore) await replaceFile(toContainedPath(file), source);
  const checkedResults = await Promise.all(results.map(result => recheckResult(result, newValues)));
  return { results: checkedResults, writtenCount: newValues.size };
}

/** An answer that did not meet the expectation at an offset of the file. */
interface FailedAnswer {
  readonly offset: number;
  readonly text: string;
}

/** Returns the first answer that failed each expectation, the last place first. */
function listFailedAnswers(results: readonly EntryResult[]): FailedAnswer[] {
  const answers = new Map<number, string>();
  const mismatches = results
    .filter(({ status }) => status !== 'passed')
    .flatMap(({ repetitions }) => repetitions)
    .flatMap(repetition => repetition.mismatches);
  for (const mismatch of mismatches) {
    const answer = findComparedAnswer(mismatch);
    if (answer !== undefined && !answers.has(mismatch.at)) answers.set(mismatch.at, answer);
  }

  const failedAnswers = [...answers].map(([offset, text]) => ({ offset, text }));
  return failedAnswers.toSorted((one, other) => other.offset - one.offset);
}

/**
 * Returns the answer as `equals` or `json` saw it, after every transform; undefined if nothing was
 * compared.
 */
function findComparedAnswer({ expected, actual }: UnmetPart): string | undefined {
  return expected === undefined ? undefined : actual;
}

/** Checks the answers against the updated file. */
async function recheckResult(
  { entry, repetitions }: EntryResult,
  newValues: ReadonlyMap<number, NewValue>,
): Promise<EntryResult> {
  const checkRepetition = async (repetition: Repetition): Promise<Repetition> => {
    const mismatches: UnmetExpectation[] = [];
    for (const mismatch of repetition.mismatches) {
      const newValue = newValues.get(mismatch.at);
      const answer = findComparedAnswer(mismatch);
      const isWritten = newValue !== undefined && answer !== undefined;
      const newMismatch = isWritten ? await compareWithNewValue(answer, newValue) : mismatch;
      if (newMismatch !== undefined) {
        mismatches.push({ ...newMismatch, line: mismatch.line, at: mismatch.at });
      }
    }
    return { ...repetition, mismatches };
  };
  return computeEntryResult(entry, await Promise.all(repetitions.map(checkRepetition)));
}

function compareWithNewValue(
  text: string,
  { kind, value }: NewValue,
): Promise<UnmetPart | undefined> {
  const { findMismatch } =
    kind === 'json'
      ? EXPECTATION_KINDS.json.create(value)
      : EXPECTATION_KINDS.equals.create({ text: String(value) });
  // `equals` and `json` need only the text.
  return findMismatch({ text } as CheckedAnswer);
}
