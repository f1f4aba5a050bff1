import { toPlacedError } from '../core/failure.ts';
import { Forecast } from '../creation/spending/forecast.ts';
import { buildRunBody } from '../inputs/request-body.ts';
import { flattenExpectations } from '../testing/expectations/expectation.ts';
import { needsJudge } from '../testing/read-files.ts';
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
  judged,
}: PreparedComparison): Promise<void> {
  for (const [index, { connection }] of variants.entries()) {
    const request = rows[0]?.requests[index];
    if (request !== undefined) await budget.checkPrice(connection, buildRunBody(request));
  }
  for (const expectation of judged) await judge.checkPrice(expectation);
}

/**
 * Estimates the cost of all runs, and of the questions to judges.
 *
 * @throws {CliError} if the embedded service would refuse one
 */
export async function forecastComparison(prepared: PreparedComparison): Promise<Forecast> {
  const forecast = new Forecast();
  await forecastRuns(forecast, prepared);
  await forecastQuestions(forecast, prepared);
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

/** Each answer to a row is judged by the expectations of the row's case. */
async function forecastQuestions(
  forecast: Forecast,
  { rows, variants, expected, judge, providerBatch }: PreparedComparison,
): Promise<void> {
  for (const { row } of rows) {
    const expectations = flattenExpectations(expected?.byRow.get(row)?.expect ?? []);
    for (const { text: prompt, model } of [...expectations].filter(needsJudge)) {
      for (const _ of variants) {
        await judge.forecast(forecast, { prompt, model }, { providerBatch });
      }
    }
  }
}
