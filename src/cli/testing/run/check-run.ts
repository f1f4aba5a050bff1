import path from 'node:path';
import type { Run } from '../../../wire/index.ts';
import { dollars } from '../../../wire/money.ts';
import type { Context } from '../../context.ts';
import { failureOf } from '../../core/failure.ts';
import { fieldText } from '../../core/json-value.ts';
import type { Budget } from '../../creation/budget.ts';
import { hasReachedNobody, isRefusalOfAll } from '../../jobs/job.ts';
import type { RequestResult } from '../../jobs/run-requests.ts';
import { textOfOutputs } from '../../outputs/output-schema.ts';
import { type Answer, checkExpectation, type Mismatch } from '../expectations/expectation.ts';
import { runCommand } from '../expectations/run-command.ts';
import type { Repetition } from '../result.ts';
import type { Judge, JudgeLog } from './judge.ts';
import type { PreparedEntry } from './prepare-entries.ts';

/** What expectations need of the whole test. */
export interface CheckTools {
  readonly judge: Judge;
  readonly budget: Budget;
  /** What judges are asked for this repetition. */
  readonly log: JudgeLog;
}

/** Checks what came back; whatever goes wrong with that is a fault of this repetition alone. */
export async function checkRun(
  ctx: Context,
  prepared: PreparedEntry,
  result: RequestResult,
  tools: CheckTools,
): Promise<Repetition> {
  const { run } = result;
  if (run === undefined) return { ...result, mismatches: [] };
  const { testCase } = prepared.entry;
  if (run.runStatus === 'failed') return { ...result, mismatches: [failedRun(run, testCase.line)] };
  const mismatches: Mismatch[] = [];
  try {
    const answer = await answerOf(ctx, prepared, { ...result, run }, tools);
    for (const expectation of testCase.expect) {
      const mismatch = await checkExpectation(expectation, answer);
      if (mismatch !== undefined) mismatches.push(mismatch);
    }
    return { ...result, mismatches };
  } catch (error) {
    const isLeft = isRefusalOfAll(error) || hasReachedNobody(error);
    return { ...result, mismatches, fault: failureOf(error), ...(isLeft && { isLeft }) };
  }
}

/** A run that failed is something that did not come as expected, not something that could not be run. */
function failedRun({ outputs }: Run, line: number): Mismatch {
  const errors = outputs.filter(({ type }) => type === 'error').map(({ data }) => fieldText(data));
  return { line, at: -1, message: `the run failed${errors.length > 0 ? `: ${errors.join('; ')}` : ''}` };
}

async function answerOf(
  ctx: Context,
  { connection, request, entry: { file, testCase, model } }: PreparedEntry,
  { run, seconds }: { readonly run: Run; readonly seconds: number },
  { judge, budget, log }: CheckTools,
): Promise<Answer> {
  const output = textOfOutputs(run.outputs);
  const text = testCase.trims ? output.trim() : output;
  return {
    text,
    seconds,
    tokens: run.tokens,
    dollars: async () => {
      if (connection.recorder?.costOf) return connection.recorder.costOf(run.runId);
      await budget.waited(connection, run);
      const { cost } = budget.factsOf(run.runId);
      return cost === undefined ? undefined : dollars(cost);
    },
    checks: await ctx.checks(),
    ask: question => judge.ask(question, log),
    values: new Map([...testCase.text, ...(testCase.data ?? [])]),
    command: async argv => {
      const inputs = Object.fromEntries(request.text);
      const facts = { name: testCase.name, inputs, model: model ?? null, output: text };
      const { keyVariables } = await import('../../../models/catalogue/report.ts');
      const secrets = new Set(await keyVariables(ctx));
      const directory = path.dirname(file.file);
      return runCommand(argv, facts, { directory, env: ctx.env, secrets, signal: ctx.signal });
    },
  };
}
