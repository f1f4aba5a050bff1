import { parseJson } from '../../files/formats/json.ts';
import { describeProgramEnd } from '../../processes/process-tree.ts';
import { MAX_OUTPUT_MIB, type ProgramOutput } from '../../processes/program-output.ts';
import { getErrorCode, getErrorMessage } from '../../utils/error-utils.ts';
import type { DeclaredProgram } from '../declared-model.ts';
import {
  createFailedResult,
  createRefusedResult,
  type EngineJob,
  type EngineResult,
} from '../engine.ts';
import { readAnswerResult, readFailure } from './answer-result.ts';

/** A run, and the program that is asked for its answer. */
export interface ProgramRun {
  readonly job: EngineJob;
  readonly declaration: DeclaredProgram;
}

/**
 * Returns the result of a program that has answered or ended: its answer if it succeeded, else why
 * it failed.
 */
export async function readProgramResult(
  { job, declaration }: ProgramRun,
  { answer, stderr, isTooLong, end }: ProgramOutput,
): Promise<EngineResult> {
  const { model } = job.model;
  if (isTooLong) {
    return createFailedResult(
      `${model} printed more than ${MAX_OUTPUT_MIB} MiB${formatReasonSuffix(stderr)}`,
    );
  }

  if (end === 'answered') return await readReply({ job, declaration }, answer);
  // The answer of a persistent program is a line, not all of its output.
  if (end?.code === 0 && !declaration.isPersistent) {
    return await readAnswerResult(job, declaration, answer);
  }

  const { reason, ...costFacts } = await readFailure(job, declaration, { answer, stderr });
  const failure =
    end === undefined
      ? `took longer than ${formatDuration(declaration.timeoutMs)}${formatReasonSuffix(stderr)}`
      : `${describeProgramEnd(end)}${formatReasonSuffix(reason)}`;
  return { ...createFailedResult(`${model} ${failure}`), ...costFacts };
}

/** Maximum number of characters of a reason. */
const MAX_REASON_LENGTH = 2000;

/** Reads the line of a persistent program: `answer`, or `fault` with the reason as a JSON string. */
async function readReply({ job, declaration }: ProgramRun, line: string): Promise<EngineResult> {
  const [keyword = ''] = line.split(' ', 1);
  const rest = line.slice(keyword.length + 1);
  if (keyword === 'answer') return await readAnswerResult(job, declaration, rest);
  const value = parseJson(rest);
  const reason = typeof value === 'string' ? value.slice(0, MAX_REASON_LENGTH) : '';
  return createFailedResult(`${job.model.model} failed${formatReasonSuffix(reason)}`);
}

function formatReasonSuffix(reason: string): string {
  return reason.trim() === '' ? '' : `: ${reason.trim()}`;
}

/** Error codes of an operating system for a command line that is too long. */
const ARGUMENTS_TOO_LONG_CODES: ReadonlySet<string | undefined> = new Set([
  'E2BIG',
  'ENAMETOOLONG',
]);

/** Returns the result of a run whose program could not be started. */
export function createNotStartedResult(
  { job, declaration }: ProgramRun,
  error: unknown,
): EngineResult {
  const { model } = job.model;
  const code = getErrorCode(error);
  if (code === 'UNSAFE_ARGUMENT') {
    return createRefusedResult(`${model}: ${getErrorMessage(error)}`, 'unfit');
  }

  if (ARGUMENTS_TOO_LONG_CODES.has(code)) {
    const advice =
      'leave ${prompt} out of its `program`, so that the prompt comes on standard input';
    return createRefusedResult(
      `${model}: the prompt is too long for an argument: ${advice}`,
      'not-started',
    );
  }

  return createRefusedResult(
    `${model}: ${declaration.argv[0]} can't be started: ${getErrorMessage(error)}`,
    'not-started',
  );
}

/** Formats a duration, such as `10 min` or `1.5 s`. */
export function formatDuration(ms: number): string {
  return ms % 60_000 === 0 ? `${ms / 60_000} min` : `${ms / 1000} s`;
}
