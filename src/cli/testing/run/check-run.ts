import {
  findOwnValue,
  isJsonList,
  type JsonValue,
  parseJson,
} from '../../../files/formats/json.ts';
import { CUT_SHORT_WORDS } from '../../../wire/error-words.ts';
import type { Run } from '../../../wire/index.ts';
import type { Context } from '../../context.ts';
import { EXIT } from '../../core/exit-codes.ts';
import { type Failure, toFailure } from '../../core/failure.ts';
import { refusesEveryJob, wasNeverSent } from '../../jobs/job-errors.ts';
import type { RequestResult } from '../../jobs/run-requests.ts';
import { joinTextOutputs } from '../../outputs/output-schema.ts';
import { joinProviderReasons, listErrorTexts } from '../../outputs/run-errors.ts';
import type { TestCase } from '../cases/test-case.ts';
import type { Repetition } from '../entry-result.ts';
import {
  type CheckedAnswer,
  checkExpectation,
  type UnmetExpectation,
  type UnmetPart,
} from '../expectations/expectation.ts';
import { formatValue, transformOutput } from '../expectations/transform-output.ts';
import { type CheckedEntry, type CheckTools, createCheckedAnswer } from './checked-answer.ts';

/** A run with its output, and the whole result of a provider that returns more than that. */
interface AnsweredRun {
  readonly run: Run;
  readonly response?: JsonValue;
}

/** Checks a result. An error in a check is a fault of this repetition alone. */
export async function checkRun(
  ctx: Context,
  checkedEntry: CheckedEntry,
  result: RequestResult,
  tools: CheckTools,
): Promise<Repetition> {
  const { run } = result;
  if (run === undefined) return { ...result, ...adjustHints(result), mismatches: [] };

  const { testCase, file, testedModel } = checkedEntry.entry;
  const isTruncated = file.isAsPromptfoo === true && isCutAtTokenLimit(run);
  if (run.runStatus === 'failed' && !isTruncated) {
    return { ...result, mismatches: [toFailedRunMismatch(run, testCase)] };
  }

  const answeredRun: AnsweredRun = testedModel?.givesResults ? readProviderResult(run) : { run };
  const shownResult = { ...result, run: answeredRun.run, ...(isTruncated && { isTruncated }) };
  if (hasNoOutput(answeredRun)) {
    const mismatch = toCaseMismatch(testCase, { message: 'the provider returned no output' });
    return { ...shownResult, mismatches: [mismatch] };
  }

  const mismatches: UnmetExpectation[] = [];
  try {
    const endedRun = { ...shownResult, response: answeredRun.response };
    const answer = await createCheckedAnswer(ctx, checkedEntry, endedRun, tools);
    const { output, transformed } = await transformAnswer(answer, checkedEntry);
    tools.onAnswer?.(output, 'mismatch' in transformed ? undefined : transformed.answer.value);

    if ('mismatch' in transformed) {
      mismatches.push(toCaseMismatch(testCase, transformed.mismatch));
    } else {
      await checkAnswer(testCase, transformed.answer, tools, mismatches);
    }

    return { ...shownResult, mismatches };
  } catch (error) {
    const isPostponed = refusesEveryJob(error) || wasNeverSent(error);
    return {
      ...shownResult,
      mismatches,
      fault: withoutCapHint(toFailure(error)),
      ...(isPostponed && { isPostponed }),
    };
  }
}

/** Returns true if a provider's whole result has no output. */
function hasNoOutput({ response }: AnsweredRun): boolean {
  return response !== undefined && (findOwnValue(response, 'output') ?? null) === null;
}

/**
 * Adds the expectations that an answer does not meet to `mismatches`, which keeps those found
 * before an error.
 */
async function checkAnswer(
  { expectations }: TestCase,
  answer: CheckedAnswer,
  { rounds }: CheckTools,
  mismatches: UnmetExpectation[],
): Promise<void> {
  const checks = expectations.map(expectation => async () => {
    const mismatch = await checkExpectation(expectation, answer);
    if (mismatch !== undefined) mismatches.push(mismatch);
  });
  if (rounds) {
    await rounds.runParts(checks);
    mismatches.sort((one, other) => one.at - other.at);
  } else {
    for (const check of checks) await check();
  }
}

/**
 * Removes the hint of a cap: a higher cap without `--resume` would pay for the other cases again.
 * The summary has the whole hint.
 */
function withoutCapHint(fault: Failure): Failure {
  return fault.exitCode === EXIT.capReached ? { ...fault, hints: [] } : fault;
}

/**
 * Adds the hint to create the run of a case in doubt again, which never happens unasked. Removes the
 * hint of a cap from any other fault.
 */
function adjustHints({ isInDoubt = false, fault }: RequestResult): Pick<RequestResult, 'fault'> {
  if (fault === undefined) return { fault };
  if (!isInDoubt) return { fault: withoutCapHint(fault) };
  const hint = 'To run it again, at its price: the same command with --resume --retry-unknown.';
  return { fault: { ...fault, hints: [...fault.hints, hint] } };
}

/**
 * Applies the transform of the tested model to an answer, then that of its case. `output` is what
 * the model, or promptfoo's provider, answered.
 */
async function transformAnswer(
  answer: CheckedAnswer,
  checkedEntry: CheckedEntry,
): Promise<{
  readonly output: CheckedAnswer['value'];
  readonly transformed: Awaited<ReturnType<typeof transformOutput>>;
}> {
  const { testedModel, testCase } = checkedEntry.entry;
  let output = answer.value;
  let transformed: Awaited<ReturnType<typeof transformOutput>> = { answer };
  for (const script of [testedModel?.transform, testCase.transform]) {
    if (script === undefined || 'mismatch' in transformed) continue;

    transformed = await transformOutput(transformed.answer, script);
    // In promptfoo, taking the output out of an address's response is part of the provider.
    const isPartOfProvider = script === testedModel?.transform && hasAddress(checkedEntry);
    if (isPartOfProvider && 'answer' in transformed) output = transformed.answer.value;
  }

  return { output, transformed };
}

/** Returns true if the entry's model is an address of the configuration. */
function hasAddress({ declaration }: CheckedEntry): boolean {
  const entries = declaration === undefined ? undefined : parseJson(declaration);
  return isJsonList(entries) && entries.some(entry => findOwnValue(entry, 'address') !== undefined);
}

/** Returns a mismatch of a whole case, before its expectations were checked. */
function toCaseMismatch({ line }: TestCase, mismatch: UnmetPart): UnmetExpectation {
  return { line, at: -1, ...mismatch };
}

/**
 * Returns true if a model gave text up to its token limit, which promptfoo judges like any other
 * answer.
 */
function isCutAtTokenLimit(run: Run): boolean {
  const errors = listErrorTexts(run);
  const [, message = ''] = /^\S+ (.*)$/su.exec(errors[0] ?? '') ?? [];
  const hasText = joinTextOutputs(run.outputs) !== '';
  return (
    run.runStatus === 'failed' &&
    errors.length === 1 &&
    hasText &&
    message.startsWith(CUT_SHORT_WORDS)
  );
}

/** Returns a failed run as a mismatch, since the case itself could be run. */
function toFailedRunMismatch(run: Run, testCase: TestCase): UnmetExpectation {
  const reasons = listErrorTexts(run).length > 0 ? `: ${joinProviderReasons(run)}` : '';
  return toCaseMismatch(testCase, { message: `the run failed${reasons}` });
}

/** Returns a run whose text is the output in a provider's result, not the whole result. */
function readProviderResult(run: Run): { readonly run: Run; readonly response: JsonValue } {
  const response = parseJson(joinTextOutputs(run.outputs)) ?? null;
  const data = formatValue(findOwnValue(response, 'output') ?? '', { isAsPromptfoo: true });
  return { run: { ...run, outputs: [{ type: 'text', data }] }, response };
}
