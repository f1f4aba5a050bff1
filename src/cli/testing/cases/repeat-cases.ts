import type { TestCase, TestFile } from './test-case.ts';
import { testFileError } from './test-values.ts';

/** Maximum number of repetitions of a case. */
export const MAX_REPEAT = 1000;

/** The flags that set how often cases run. */
export interface RepeatOptions {
  /** Number of runs of every case; from its file if undefined. */
  readonly repeat: number | undefined;
  /** True to run cases with a required rate until they are decided. */
  readonly sure: boolean;
  /** Maximum number of runs of a case that runs until decided. */
  readonly maxRepeat: number;
}

/**
 * Sets how often each case runs.
 *
 * @throws {CliError} USAGE_ERROR with file and line if a case must pass more often than it runs
 */
export function repeatCases(file: TestFile, options: RepeatOptions): TestFile {
  return { ...file, cases: file.cases.map(testCase => repeatCase(testCase, options)) };
}

function repeatCase(testCase: TestCase, { repeat, sure, maxRepeat }: RepeatOptions): TestCase {
  const { passRule, passRulePlace } = testCase;
  if (sure && passRule.kind === 'rate') {
    // One answer is enough for a rate of 0 %; more answers would cost money for nothing.
    return { ...testCase, repeat: passRule.rate === 0 ? 1 : maxRepeat, runsUntilDecided: true };
  }

  const runCount = repeat ?? testCase.repeat;
  if (passRule.kind === 'count' && passRulePlace !== undefined && passRule.count > runCount) {
    throw testFileError(
      passRulePlace,
      `pass (${passRule.count}) is more than repeat (${runCount})`,
    );
  }

  return { ...testCase, repeat: runCount };
}
