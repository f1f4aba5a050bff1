import type { Context } from '../context.ts';
import type { Failure } from '../core/failure.ts';
import type { Budget } from '../creation/spending/budget.ts';
import type { ResumableRequests } from '../jobs/resumable-requests.ts';
import type { TestCase, TestFile } from '../testing/cases/test-case.ts';
import type { Judge, JudgeLog } from '../testing/judging/judge.ts';
import { createJournaledRounds, type QuestionRounds } from '../testing/judging/question-rounds.ts';
import { checkRun } from '../testing/run/check-run.ts';
import type { CheckedRow } from './checked-rows.ts';
import type { ComparedRow, ComparedRowJudgement } from './compared-row.ts';
import type { Variant } from './create-variants.ts';
import type { ExpectedCases } from './expected-cases.ts';

interface JudgingTools {
  readonly variants: readonly Variant[];
  readonly judge: Judge;
  readonly budget: Budget;
  /**
   * The journaled questions to judges; undefined if nobody is asked, or answers come from
   * recordings.
   */
  readonly questions: ResumableRequests | undefined;
}

/** Judges the answers to each row with a case; returns the judgements by row number. */
export async function judgeRows(
  ctx: Context,
  rows: readonly (CheckedRow & ComparedRow)[],
  { file, byRow }: ExpectedCases,
  tools: JudgingTools,
): Promise<Map<number, ComparedRowJudgement>> {
  const rounds = tools.questions && createJournaledRounds(tools.questions);
  const judgements = new Map<number, ComparedRowJudgement>();
  const addJudgement = async (row: CheckedRow & ComparedRow): Promise<void> => {
    const testCase = byRow.get(row.row);
    if (!testCase) return;
    judgements.set(row.row, await judgeRow(ctx, row, { file, testCase }, { ...tools, rounds }));
  };

  if (rounds) {
    await Promise.all(rows.map(addJudgement));
  } else {
    for (const row of rows) await addJudgement(row);
  }

  ctx.signal.throwIfAborted();
  if (rounds?.fault !== undefined) throw rounds.fault;
  return judgements;
}

async function judgeRow(
  ctx: Context,
  { row, results, requests }: CheckedRow & ComparedRow,
  entry: { readonly file: TestFile; readonly testCase: TestCase },
  {
    variants,
    judge,
    budget,
    rounds,
  }: JudgingTools & { readonly rounds: QuestionRounds | undefined },
): Promise<ComparedRowJudgement> {
  const checks = variants.map(async ({ connection, model }, index) => {
    const result = results[index];
    const request = requests[index];
    if (result?.run === undefined || request === undefined) return undefined;

    const tools = { judge, budget, log: createUnsavedJudgeLog(`${row}-${index}`), rounds };
    const check = () =>
      checkRun(ctx, { entry: { ...entry, model }, connection, request }, result, tools);
    return rounds ? rounds.runCheck(check) : check();
  });
  const repetitions = await Promise.all(checks);
  return {
    case: entry.testCase.name,
    passes: repetitions.map(repetition => {
      if (repetition === undefined || repetition.fault) return undefined;
      return repetition.mismatches.length === 0;
    }),
    messages: repetitions.map(repetition =>
      (repetition?.mismatches ?? []).map(({ message }) => message),
    ),
    faults: repetitions.flatMap(repetition => repetition?.fault ?? []),
  };
}

/** Returns a log that keeps nothing: each question to a judge is in the comparison's own journal. */
function createUnsavedJudgeLog(repetitionId: string): JudgeLog {
  return {
    repetitionId,
    repeatsFailed: false,
    takeEarlierResult: () => undefined,
    recordCreation: async () => {},
    recordEnd: async () => {},
  };
}

/** Returns the fault that kept answers from being judged. */
export function findJudgingFault(
  judgements: ReadonlyMap<number, ComparedRowJudgement>,
): Failure | undefined {
  return [...judgements.values()].flatMap(({ faults }) => faults)[0];
}
