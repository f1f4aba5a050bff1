import { setTimeout as delay } from 'node:timers/promises';
import { OutputBeginning } from '../../../processes/output-beginning.ts';
import type { ProgramEnd } from '../../../processes/process-tree.ts';
import { resolveWhenAborted, withTimeout } from '../../../utils/abort-signals.ts';
import {
  type CaseFacts,
  type CaseProgram,
  type CaseProgramOptions,
  CHECK_PROGRAM_LIMIT_MS,
  programStartError,
  startCaseProgram,
} from '../../checks/case-program.ts';
import type { CommandFailure } from './expectation.ts';

/** Number of characters of its output to show. */
const MAX_SHOWN_VERDICT = 2000;

/** Maximum wait for a program's output after its last process has ended, in milliseconds. */
const VERDICT_GRACE_MS = 1000;

/**
 * Runs a program on an answer, which is on its standard input. Ends processes that the program
 * leaves running.
 *
 * @returns undefined if it exited with 0
 * @throws {CliError} USAGE_ERROR if it can't be started
 */
export async function runCommand(
  argv: readonly [string, ...string[]],
  testCase: CaseFacts,
  options: CaseProgramOptions,
): Promise<CommandFailure | undefined> {
  let program: CaseProgram | undefined;
  try {
    program = await startCaseProgram(argv, testCase, options);
    return await awaitVerdict(program, testCase.output, options.signal);
  } catch (error) {
    options.signal.throwIfAborted();
    throw programStartError(argv, error);
  } finally {
    await program?.end();
  }
}

async function awaitVerdict(
  { tree }: CaseProgram,
  answer: string,
  signal: AbortSignal,
): Promise<CommandFailure | undefined> {
  const { child, whenEnded, whenClosed } = tree;
  const output = new OutputBeginning([child.stdout, child.stderr], MAX_SHOWN_VERDICT);
  child.stdin.end(answer);
  const end = await withTimeout(CHECK_PROGRAM_LIMIT_MS, signal, limitSignal =>
    awaitEndText(whenEnded, limitSignal),
  );
  signal.throwIfAborted();
  if (end === 'ended with 0') return undefined;

  await tree.end();
  await Promise.race([whenClosed, delay(VERDICT_GRACE_MS)]);
  return {
    end: end ?? `took more than ${CHECK_PROGRAM_LIMIT_MS / 1000} s`,
    output: output.text,
  };
}

/**
 * Returns a text about the end of a program; undefined after a timeout.
 *
 * @throws the error of starting it
 */
async function awaitEndText(
  programEnd: Promise<ProgramEnd>,
  limitSignal: AbortSignal,
): Promise<string | undefined> {
  const end = await resolveWhenAborted(programEnd, limitSignal);
  if (end === undefined) return undefined;
  return end.signal === null ? `ended with ${end.code}` : `was ended by ${end.signal}`;
}
