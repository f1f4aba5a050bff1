import type { Context } from '../context.ts';
import type { CliError } from '../core/errors.ts';
import { EXIT, type ExitCode } from '../core/exit-codes.ts';
import { toPlacedError } from '../core/failure.ts';
import { pluralize } from '../core/pluralize.ts';
import { Forecast } from '../creation/spending/forecast.ts';
import { buildRunBody } from '../inputs/request-body.ts';
import { printValue } from '../outputs/print-json.ts';
import type { FaultyTestFile } from './entry-result.ts';
import { flattenExpectations } from './expectations/expectation.ts';
import type { Judge } from './judging/judge.ts';
import { needsJudge } from './read-test-files.ts';
import { reportTestFault } from './reporters/report-end.ts';
import type { PreparedEntry } from './run/prepare-entries.ts';
import type { TestOptions } from './test-options.ts';

interface TestDryRunOptions extends Pick<TestOptions, 'caps' | 'providerBatch'> {
  readonly judge: Judge;
}

/** Reports the faults of cases and estimates what their runs and judges cost; creates nothing. */
export async function dryRunTests(
  ctx: Context,
  entries: readonly PreparedEntry[],
  faultyFiles: readonly FaultyTestFile[],
  { judge, caps, providerBatch }: TestDryRunOptions,
): Promise<ExitCode> {
  const forecast = new Forecast();
  const caseFaults: CliError[] = [];
  for (const preparedEntry of entries) {
    const fault =
      preparedEntry.entry.testCase.fault ??
      (await tryForecast(forecast, preparedEntry, { judge, providerBatch }));
    if (fault === undefined) continue;

    caseFaults.push(fault);
    reportTestFault(ctx, fault);
  }

  if (ctx.globals.json) {
    await printValue(ctx, {
      cases: entries.length,
      faults: faultyFiles.length + caseFaults.length,
      ...forecast.toData(),
    });
  }

  ctx.io.note(`note: ${pluralize(entries.length, 'case')} checked; nothing was created`);
  ctx.io.note(`note: ${forecast.format(caps)}`);
  const firstFault = faultyFiles[0]?.fault ?? caseFaults[0];
  return firstFault?.exitCode ?? EXIT.ok;
}

/** Adds an entry to a forecast. Returns the fault of one that can't be estimated. */
async function tryForecast(
  forecast: Forecast,
  preparedEntry: PreparedEntry,
  options: Omit<TestDryRunOptions, 'caps'>,
): Promise<CliError | undefined> {
  try {
    await addToForecast(forecast, preparedEntry, options);
    return undefined;
  } catch (error) {
    const { file, testCase } = preparedEntry.entry;
    return toPlacedError(`${file.name}:${testCase.line}`, error);
  }
}

/** Adds the runs of an entry and the questions to its judges. */
async function addToForecast(
  forecast: Forecast,
  { connection, request, estimatedCredits, entry: { testCase } }: PreparedEntry,
  { judge, providerBatch }: Omit<TestDryRunOptions, 'caps'>,
): Promise<void> {
  const judgedExpectations = [...flattenExpectations(testCase.expectations)].filter(needsJudge);
  for (let repetition = 0; repetition < testCase.repeat; repetition += 1) {
    await forecast.add(connection, buildRunBody(request), { estimatedCredits, providerBatch });
    // The question's final text needs an answer that does not exist yet.
    for (const { text, model, judgeRank, judgeConfig } of judgedExpectations) {
      const question = { prompt: text, model, judgeRank, judgeConfig };
      await judge.forecast(forecast, question, { providerBatch });
    }
  }
}
