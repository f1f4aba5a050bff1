import type { RunCost } from '../../service/runs/costs.ts';
import type { Run } from '../../wire/index.ts';
import { type Money, toDollars } from '../../wire/money.ts';
import { type Credits, fromCredits } from './credits.ts';

/** The actual cost and credits of a run; undefined while unknown. */
export interface RunSpend {
  readonly credits?: Credits | undefined;
  /** Set only by the embedded service. */
  readonly cost?: Money | undefined;
  readonly tokens?: number | undefined;
  /** The cost as the embedded service counts it. */
  readonly counted?: RunCost | undefined;
}

/** Returns the tokens that a model has counted for a failed run, whose own answer reports 0. */
export function findFailedRunTokens(
  run: Run | undefined,
  { tokens }: RunSpend,
): number | undefined {
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
  return models.reduce((sum, own) => sum + own.runs, 0) < runs;
}

/** Returns the sum; undefined if an amount is undefined. */
export function addUp(amounts: readonly (number | undefined)[]): number | undefined {
  let sum = 0;
  for (const amount of amounts) {
    if (amount === undefined) return undefined;
    sum += amount;
  }
  return sum;
}

export function sumSpend(runs: readonly RunSpend[]): Totals {
  const models = [...new Set(runs.flatMap(({ counted }) => counted?.model ?? []))].toSorted();
  const tokens = runs.flatMap(run => run.tokens ?? []);
  return {
    ...sumRuns(runs),
    tokens: addUp(tokens) ?? 0,
    tokensUnknown: runs.length - tokens.length,
    models: models.map(model => {
      const own = runs.filter(({ counted }) => counted?.model === model);
      return { model, ...sumRuns(own), tokens: sumModelTokens(own) };
    }),
  };
}

function sumRuns(runs: readonly RunSpend[]): RunSums {
  const credits = runs.flatMap(run => run.credits ?? []);
  const costs = runs.flatMap(({ cost }) => cost ?? []);
  return {
    runs: runs.length,
    credits: credits.length === 0 ? null : fromCredits(addUp(credits) ?? 0),
    creditsUnknown: runs.length - credits.length,
    cost: costs.length === 0 ? null : toDollars(addUp(costs) ?? 0),
    costUnknown: runs.length - costs.length,
    estimated: runs.some(({ counted }) => counted?.estimated === true),
  };
}

function sumModelTokens(runs: readonly RunSpend[]): ModelTotals['tokens'] {
  const counted = runs.flatMap(run => run.counted?.tokens ?? []);
  if (counted.length === 0) return null;
  const sum = (field: 'input' | 'output' | 'cached'): number =>
    counted.reduce((total, tokens) => total + tokens[field], 0);
  return { input: sum('input'), output: sum('output'), cached: sum('cached') };
}
