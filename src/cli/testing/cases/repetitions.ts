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
  const { pass, passPlace } = testCase;
  if (sure && pass.kind === 'rate') {
    // One answer is enough for a rate of 0 %; more answers would cost money for nothing.
    return { ...testCase, repeat: pass.rate === 0 ? 1 : maxRepeat, untilDecided: true };
  }

  const runs = repeat ?? testCase.repeat;
  if (pass.kind === 'count' && passPlace !== undefined && pass.count > runs) {
    throw testFileError(passPlace, `pass (${pass.count}) is more than repeat (${runs})`);
  }

  return { ...testCase, repeat: runs };
}
