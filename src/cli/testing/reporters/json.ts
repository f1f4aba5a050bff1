import { countOf } from '../../core/json-value.ts';
import type { Totals } from '../../creation/spending.ts';
import { type EntryResult, type Repetition, totalsOf } from '../result.ts';

/** The results as data: how many ended in each way, what they took, and each case with its repetitions. */
export function jsonReport(results: readonly EntryResult[], spent: Totals): object {
  return {
    ...totalsOf(results),
    totals: spent,
    cases: results.map(({ entry, status, repetitions, seconds }) => ({
      file: entry.file.name,
      line: entry.testCase.line,
      name: entry.testCase.name,
      model: entry.model ?? null,
      status,
      seconds,
      pass: entry.testCase.pass,
      repetitions: repetitions.map(repetitionData),
    })),
  };
}

function repetitionData({ run, seconds, mismatches, fault }: Repetition): object {
  return {
    runId: run?.runId ?? null,
    runStatus: run?.runStatus ?? null,
    tokens: countOf(run?.tokens) ?? null,
    outputs: run?.outputs ?? [],
    seconds,
    mismatches,
    error:
      fault === undefined ? null : { status: fault.status, message: fault.message, exitCode: fault.exitCode },
  };
}
