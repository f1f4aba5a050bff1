import { toPlacedError } from '../core/failure.ts';
import { Forecast } from '../creation/spending/forecast.ts';
import { buildRunBody } from '../inputs/request-body.ts';
import { flattenExpectations } from '../testing/expectations/expectation.ts';
import { needsJudge } from '../testing/read-test-files.ts';
import type { PreparedComparison } from './prepare-comparison.ts';

/**
 * Refuses models without a price under `--max-cost`, before anything is created.
 *
 * @throws {CliError}
 */
export async function checkComparisonPrices({
  variants,
  rows,
  budget,
  judge,
  judgedExpectations,
}: PreparedComparison): Promise<void> {
  for (const [index, { connection }] of variants.entries()) {
    // A price depends on the model, not on the row, so that the first row stands for all.
    const request = rows[0]?.requests[index];
    if (request !== undefined) await budget.checkPrice(connection, buildRunBody(request));
  }
  for (const expectation of judgedExpectations) await judge.checkPrice(expectation);
}

/**
 * Estimates the cost of all runs, and of the questions to judges.
 *
 * @throws {CliError} if the embedded service would refuse one
 */
export async function forecastComparison(prepared: PreparedComparison): Promise<Forecast> {
  const forecast = new Forecast();
  await forecastRuns(forecast, prepared);
  await forecastJudgeQuestions(forecast, prepared);
  return forecast;
}

async function forecastRuns(
  forecast: Forecast,
  { rows, variants, providerBatch }: PreparedComparison,
): Promise<void> {
  for (const [index, { connection, name, estimatedCredits }] of variants.entries()) {
    for (const { row, requests } of rows) {
      const request = requests[index];
      if (request === undefined) continue;
      await forecast
        .add(connection, buildRunBody(request), { estimatedCredits, providerBatch })
        .catch((error: unknown) => {
          throw toPlacedError(`row ${row} (${name})`, error);
        });
    }
  }
}

/** Adds the questions to judges: each answer to a row is asked about as the row's case says. */
async function forecastJudgeQuestions(
  forecast: Forecast,
  { rows, variants, expectedCases, judge, providerBatch }: PreparedComparison,
): Promise<void> {
  for (const { row } of rows) {
    const expectations = flattenExpectations(expectedCases?.byRow.get(row)?.expectations ?? []);
    const questions = [...expectations].filter(needsJudge);
    for (const { text, model } of variants.flatMap(() => questions)) {
      await judge.forecast(forecast, { prompt: text, model }, { providerBatch });
    }
  }
}
