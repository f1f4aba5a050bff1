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

/** Maximum length of a program's output to show, in characters. */
const MAX_PROGRAM_OUTPUT_LENGTH = 2000;

/** Maximum wait for a program's output after its last process has ended, in milliseconds. */
const OUTPUT_GRACE_MS = 1000;

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
    return await awaitFailure(program, testCase.output, options.signal);
  } catch (error) {
    options.signal.throwIfAborted();
    throw programStartError(argv, error);
  } finally {
    await program?.end();
  }
}

/** Returns the failure of a program on an answer; undefined if it exited with 0. */
async function awaitFailure(
  { tree }: CaseProgram,
  answer: string,
  signal: AbortSignal,
): Promise<CommandFailure | undefined> {
  const { child, whenEnded, whenClosed } = tree;
  const output = new OutputBeginning([child.stdout, child.stderr], MAX_PROGRAM_OUTPUT_LENGTH);
  child.stdin.end(answer);
  const end = await withTimeout(CHECK_PROGRAM_LIMIT_MS, signal, limitSignal =>
    resolveWhenAborted(whenEnded, limitSignal),
  );
  signal.throwIfAborted();
  if (end?.code === 0) return undefined;

  await tree.end();
  await Promise.race([whenClosed, delay(OUTPUT_GRACE_MS)]);
  return {
    endText: formatEnd(end),
    output: output.text,
  };
}

/** Describes the end of a program; undefined means that it took too long. */
function formatEnd(end: ProgramEnd | undefined): string {
  if (end === undefined) return `took more than ${CHECK_PROGRAM_LIMIT_MS / 1000} s`;
  return end.signal === null ? `ended with ${end.code}` : `was ended by ${end.signal}`;
}
