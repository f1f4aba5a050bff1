import type { RunCost } from '../../../service/runs/costs.ts';
import type { Run } from '../../../wire/index.ts';
import { type Money, toDollars } from '../../../wire/money.ts';
import { type Credits, fromCredits } from './credits.ts';

/** The actual cost and credits of a run; undefined while unknown. */
export interface RunSpend {
  readonly credits?: Credits | undefined;
  /** Set only by the embedded service. */
  readonly cost?: Money | undefined;
  readonly tokens?: number | undefined;
  /** The cost that the embedded service has computed. */
  readonly serviceCost?: RunCost | undefined;
}

/**
 * Returns the tokens of a failed run; undefined for any other run. The run itself reports 0, even
 * if its model has counted some.
 */
export function getFailedRunTokens(run: Run | undefined, { tokens }: RunSpend): number | undefined {
  return run?.runStatus === 'failed' ? tokens : undefined;
}

/** The total cost, credits and tokens of runs. */
export interface Totals extends RunSums {
  /** The service tokens of the runs that report them. */
  readonly tokens: number;
  readonly tokensUnknown: number;
  readonly models: readonly ModelTotals[];
}

/** Sums over runs. The `…Unknown` fields count the runs that a sum leaves out. */
interface RunSums {
  readonly runs: number;
  /** The credits of the runs that report them; null if none does. */
  readonly credits: number | null;
  readonly creditsUnknown: number;
  /** The US dollars of the runs with a known cost; null if there is none. */
  readonly cost: number | null;
  readonly costUnknown: number;
  /** True if some of the cost comes from the bundled table of prices. */
  readonly estimated: boolean;
}

interface ModelTotals extends RunSums {
  readonly model: string;
  /** The provider's token counts; null if it reports none. */
  readonly tokens: {
    readonly input: number;
    readonly output: number;
    readonly cached: number;
  } | null;
}

/** Returns false if the embedded service made all runs, because its credits cost nothing. */
export function hasPaidCredits({ runs, models }: Totals): boolean {
  // Only the runs of the embedded service have a model here.
  const embeddedRunCount = addUp(models.map(model => model.runs));
  return embeddedRunCount < runs;
}

/** Returns the sum, or undefined if an amount is undefined. */
export function addUp(amounts: readonly number[]): number;
export function addUp(amounts: readonly (number | undefined)[]): number | undefined;
export function addUp(amounts: readonly (number | undefined)[]): number | undefined {
  let sum = 0;
  for (const amount of amounts) {
    if (amount === undefined) return undefined;
    sum += amount;
  }
  return sum;
}

export function sumSpend(runs: readonly RunSpend[]): Totals {
  const models = [
    ...new Set(runs.flatMap(({ serviceCost }) => serviceCost?.model ?? [])),
  ].toSorted();
  const tokens = runs.flatMap(run => run.tokens ?? []);
  return {
    ...sumRuns(runs),
    tokens: addUp(tokens),
    tokensUnknown: runs.length - tokens.length,
    models: models.map(model => {
      const runsOfModel = runs.filter(({ serviceCost }) => serviceCost?.model === model);
      return { model, ...sumRuns(runsOfModel), tokens: sumModelTokens(runsOfModel) };
    }),
  };
}

function sumRuns(runs: readonly RunSpend[]): RunSums {
  const credits = runs.flatMap(run => run.credits ?? []);
  const costs = runs.flatMap(({ cost }) => cost ?? []);
  return {
    runs: runs.length,
    credits: credits.length === 0 ? null : fromCredits(addUp(credits)),
    creditsUnknown: runs.length - credits.length,
    cost: costs.length === 0 ? null : toDollars(addUp(costs)),
    costUnknown: runs.length - costs.length,
    estimated: runs.some(({ serviceCost }) => serviceCost?.estimated === true),
  };
}

function sumModelTokens(runs: readonly RunSpend[]): ModelTotals['tokens'] {
  const tokenCounts = runs.flatMap(run => run.serviceCost?.tokens ?? []);
  if (tokenCounts.length === 0) return null;
  const sum = (field: 'input' | 'output' | 'cached'): number =>
    addUp(tokenCounts.map(tokens => tokens[field]));
  return { input: sum('input'), output: sum('output'), cached: sum('cached') };
}
