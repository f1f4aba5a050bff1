import path from 'node:path';
import { dollars } from '../../../wire/money.ts';
import type { Context } from '../../context.ts';
import type { Budget } from '../../creation/budget.ts';
import type { Checks } from '../../outputs/checks/checks.ts';
import { runCommand } from '../expectations/run-command.ts';
import type { Judge } from './judge.ts';
import type { RunEntriesOptions } from './run-entries.ts';

/** What expectations need besides an answer: a judge, programs, checks on their thread, and what a run cost. */
export function toolsFor(
  ctx: Context,
  {
    judge,
    budget,
    checks,
  }: {
    readonly judge: Judge;
    readonly budget: Budget;
    readonly checks: Pick<Checks, 'perform'>;
  },
): RunEntriesOptions['tools'] {
  return ({ connection, entry: { file, testCase, model }, request }, run) => ({
    checks,
    ask: judge.ask,
    values: new Map([...testCase.text, ...(testCase.data ?? [])]),
    dollars: async () => {
      await budget.waited(connection, run);
      const { cost } = budget.factsOf(run.runId);
      return cost === undefined ? undefined : dollars(cost);
    },
    command: async (argv, output) => {
      const told = {
        name: testCase.name,
        inputs: Object.fromEntries(request.text),
        model: model ?? null,
        output,
      };
      const secrets = new Set(await ctx.local.keyVariables({ dataDir: ctx.dataDir }));
      const directory = path.dirname(file.file);
      return runCommand(argv, told, { directory, env: ctx.env, secrets, signal: ctx.signal });
    },
  });
}
