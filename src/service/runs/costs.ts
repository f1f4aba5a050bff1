import type { ModelTable } from '../../models/catalogue/model-table.ts';
import { findPricing, PRICE_TABLE_DATE } from '../../models/catalogue/prices.ts';
import { BUILT_IN_MODELS } from '../../models/model-entry.ts';
import type { AccessFault } from '../../models/providers/access-fault.ts';
import { type Money, toDollars } from '../../wire/money.ts';
import type { RunWithUsage } from '../store/runs/run-usage.ts';
import type { Store } from '../store/store.ts';
import type { CostEstimate, EstimatedCreation, EstimateSources } from './cost-estimate.ts';

interface TokenCounts {
  /** Tokens of the prompt, cached ones included. */
  readonly input: number;
  readonly output: number;
  readonly cached: number;
}

export interface RunCost {
  readonly model: string;
  /** 0 for a free run. */
  readonly credits: number;
  /** null if the provider reported none. */
  readonly tokens: TokenCounts | null;
  /** null if unknown. */
  readonly cost: Money | null;
  /**
   * The standard price of the tokens if the cost is unknown, as for an answer in a price class
   * without a known price.
   */
  readonly standardCost?: Money;
  /** True if the cost comes from the bundled price table. */
  readonly estimated: boolean;
  /** The number of answers that the run asked for. */
  readonly answers: number;
}

/** The usage of a run in the list, with its cost in US dollars. */
type ListedUsage = Pick<RunCost, 'model' | 'tokens' | 'estimated'> & {
  readonly cost: number | null;
};

/** Costs of runs of the embedded service. */
export interface Costs {
  /** The date of the bundled price table, such as 2026-11-30. */
  readonly tableDate: string;
  /**
   * Explains why a version's model can't be asked; undefined if it can, or if the creation reports
   * the reason.
   */
  findAccessFault(promptVersionId: string): Promise<AccessFault | undefined>;
  /** Returns costs by run id, without runs that have not ended. */
  readRunCosts(runIds: readonly string[]): Promise<ReadonlyMap<string, RunCost>>;
  /** See `estimateCost`. */
  estimate(creation: EstimatedCreation): Promise<CostEstimate>;
}

const COSTS_PAGE_SIZE = 500;

const BUILT_IN_MODEL_NAMES = new Set(BUILT_IN_MODELS.map(({ model }) => model));

export function createCosts(sources: EstimateSources): Costs {
  const { store, userId, definitions, models } = sources;
  return {
    tableDate: PRICE_TABLE_DATE,
    async findAccessFault(promptVersionId) {
      // The id may be the user's; the store keeps ids in lower case.
      const version = await store.prompts.findRunnable(promptVersionId.toLowerCase());
      const model = version && models.get((await definitions.getByVersionId(version.id)).model);
      return model && models.findAccessFault(model);
    },
    async readRunCosts(runIds) {
      const costs = new Map<string, RunCost>();
      for (let start = 0; start < runIds.length; start += COSTS_PAGE_SIZE) {
        const page = runIds.slice(start, start + COSTS_PAGE_SIZE);
        const runs = await store.runs.readUsage(userId, page);
        for (const run of runs) {
          const runCost = computeRunCost(run);
          if (runCost === undefined) continue;
          costs.set(run.id, { ...runCost, ...(await findStandardCost(runCost, models)) });
        }
      }
      return costs;
    },
    async estimate(creation) {
      const { estimateCost } = await import('./cost-estimate.ts');
      return await estimateCost(sources, creation);
    },
  };
}

/** Returns the usage of a user's runs by id, as the list shows it, with costs in US dollars. */
export async function readListedUsage(
  store: Store,
  userId: number,
  runIds: readonly string[],
): Promise<ReadonlyMap<string, ListedUsage>> {
  const runs = await store.runs.readUsage(userId, runIds);
  return new Map(
    runs.map(run => {
      const unknownCost = { model: run.promptModel, tokens: null, cost: null, estimated: false };
      const { model, tokens, cost, estimated } = computeRunCost(run) ?? unknownCost;
      return [run.id, { model, tokens, cost: cost === null ? null : toDollars(cost), estimated }];
    }),
  );
}

/** Returns the cost of a run; undefined if it has not ended. */
function computeRunCost({
  usage,
  promptModel,
  status,
  credits,
}: RunWithUsage): RunCost | undefined {
  if (status !== 'succeeded' && status !== 'failed') return undefined;

  if (!usage) {
    const cost = BUILT_IN_MODEL_NAMES.has(promptModel) ? 0 : null;
    return { model: promptModel, credits, tokens: null, cost, estimated: false, answers: 1 };
  }

  const { model, input, output, cached, cost, estimated, answers } = usage;
  const tokens = input === null || output === null ? null : { input, output, cached: cached ?? 0 };
  return { model, credits, tokens, cost, estimated: estimated === 1, answers };
}

/**
 * Returns the standard price of the tokens of a run whose cost is unknown; empty if there is none.
 */
async function findStandardCost(
  { model, tokens, cost }: RunCost,
  models: ModelTable,
): Promise<Pick<RunCost, 'standardCost'>> {
  if (cost !== null || tokens === null) return {};
  const entry = models.get(model);
  const pricing = entry && (await findPricing(entry));
  const imageCount = 0;
  return pricing === undefined ? {} : { standardCost: pricing.computeCost(tokens, imageCount) };
}
