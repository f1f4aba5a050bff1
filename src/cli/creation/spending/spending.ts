import type { ReadOptions } from '../../../client/request-options.ts';
import type { RunCost } from '../../../service/runs/costs.ts';
import { isOver } from '../../../wire/index.ts';
import { MAX_LIST_LIMIT } from '../../../wire/limits.ts';
import type { Money } from '../../../wire/money.ts';
import type { Connection } from '../../context.ts';
import type { PaidRun } from '../../outputs/not-printed.ts';
import { type Credits, parseCredits } from './credits.ts';
import { addUp, type RunSpend, sumSpend, type Totals } from './totals.ts';

/** The estimated cost and credits of a run; undefined if unknown. */
export interface Estimate {
  readonly cost: Money | undefined;
  readonly credits: Credits | undefined;
}

export type SpendingUnit = keyof Estimate;

export const UNKNOWN_ESTIMATE: Estimate = { cost: undefined, credits: undefined };

/** A run that an earlier invocation of the command made. */
export interface EarlierRun extends Omit<RunSpend, 'serviceCost'> {
  readonly runId: string;
  readonly promptVersionId?: string | undefined;
}

/** A run to count, with the facts that are already known. */
export interface RunToCount extends Omit<EarlierRun, 'promptVersionId'> {
  /** The connection to the service that made it; undefined if that service can't be asked. */
  readonly connection: Connection | undefined;
  /** Runs with the same key are expected to cost the same, as are those of one model. */
  readonly costKey?: string;
  /** The estimate from before it was made; unknown by default. */
  readonly estimate?: Estimate;
  /** True to read its credits from the list of runs. Default true. */
  readonly isListed?: boolean;
}

interface SpentRun extends PaidRun {
  readonly costKey: string;
  estimate: Estimate;
  readonly isListed: boolean;
  tokens: number | undefined;
  credits: Credits | undefined;
  cost: Money | undefined;
  /** The cost that the embedded service has computed. */
  serviceCost: RunCost | undefined;
}

/**
 * The spending of a command's runs: credits from the list of runs, credits and money from the
 * embedded service.
 */
export class Spending {
  readonly #runs = new Map<string, SpentRun>();
  /** Runs that the embedded service has not counted yet. */
  readonly #uncountedRuns = new Set<SpentRun>();
  #nextRead: Promise<void> | undefined;
  /** The sums of the known amounts. */
  readonly #sums = { cost: 0, credits: 0 };
  readonly #runsWithUnknown = { cost: new Set<SpentRun>(), credits: new Set<SpentRun>() };
  /** The amount of the most expensive run of each cost key and model; costs are per answer. */
  readonly #highestAmounts = {
    cost: new Map<string, number>(),
    credits: new Map<string, number>(),
  };
  #hasUnreadCredits = false;

  /** True if runs have ended since the list was last read. */
  get hasUnreadCredits(): boolean {
    return this.#hasUnreadCredits;
  }

  get runs(): readonly PaidRun[] {
    return [...this.#runs.values()];
  }

  /** Counts a run, made by this invocation or an earlier one. */
  add({ runId, tokens, connection, credits, cost, ...expected }: RunToCount): void {
    const countedRun = this.#runs.get(runId);
    if (countedRun !== undefined) {
      countedRun.tokens = tokens ?? countedRun.tokens;
      return;
    }

    const isEmbedded = connection?.costs !== undefined;
    const isListed = !isEmbedded && expected.isListed !== false;
    const run: SpentRun = {
      runId,
      connection,
      costKey: expected.costKey ?? '',
      estimate: expected.estimate ?? UNKNOWN_ESTIMATE,
      isListed,
      tokens,
      credits: undefined,
      cost: undefined,
      serviceCost: undefined,
    };
    this.#runs.set(runId, run);
    this.#runsWithUnknown.credits.add(run);

    if (isEmbedded) {
      this.#runsWithUnknown.cost.add(run);
      this.#uncountedRuns.add(run);
    }

    this.#setAmount(run, 'credits', credits);
    this.#setAmount(run, 'cost', cost);
    if (isListed && credits === undefined) this.#hasUnreadCredits = true;
  }

  getRunSpend(runId: string): RunSpend {
    return this.#runs.get(runId) ?? {};
  }

  /**
   * Returns the amounts of the most expensive run of these cost keys or models; the cost is per
   * answer.
   */
  findMostExpensive(...costKeysOrModels: readonly string[]): Estimate {
    const findHighestAmount = (unit: SpendingUnit): number | undefined => {
      const amounts = costKeysOrModels.flatMap(name => this.#highestAmounts[unit].get(name) ?? []);
      return amounts.length === 0 ? undefined : Math.max(...amounts);
    };
    return { cost: findHighestAmount('cost'), credits: findHighestAmount('credits') };
  }

  /**
   * Returns the sum over all runs; a run without a known amount counts with its estimate.
   *
   * @param defaultAmount the amount for a run that has no estimate
   * @returns undefined if a run has neither
   */
  sumWithEstimates(unit: SpendingUnit, defaultAmount: number | undefined): number | undefined {
    const estimates = Array.from(
      this.#runsWithUnknown[unit],
      run => run.estimate[unit] ?? defaultAmount,
    );
    return addUp([this.#sums[unit], ...estimates]);
  }

  /**
   * Reads the costs of runs that ended on the embedded service. Calls of one turn of the event loop
   * share a read.
   */
  readCosts(): Promise<void> {
    this.#nextRead ??= new Promise<void>(resolve => setImmediate(resolve)).then(() => {
      this.#nextRead = undefined;
      return this.#readUncounted();
    });
    return this.#nextRead;
  }

  /**
   * Reads the credits from the list of runs, a page for each fifty, if runs have ended since it was
   * last read.
   */
  async readCredits(signal: AbortSignal, options: ReadOptions = {}): Promise<void> {
    if (!this.#hasUnreadCredits) return;
    this.#hasUnreadCredits = false;

    const unreadRuns = [...this.#runsWithUnknown.credits].filter(({ isListed }) => isListed);
    for (const [{ client }, runs] of groupByConnection(unreadRuns)) {
      const wantedRuns = new Map(runs.map(run => [run.runId, run]));
      let pagesLeft = Math.ceil(runs.length / MAX_LIST_LIMIT);
      for await (const { rows } of client.runs.pages({}, { signal, ...options })) {
        for (const row of rows) {
          const run = wantedRuns.get(row.runId);
          const credits = row.credits === null ? 0 : parseCredits(row.credits);
          if (run !== undefined && isOver(row)) this.#setAmount(run, 'credits', credits);
          wantedRuns.delete(row.runId);
        }
        pagesLeft -= 1;
        if (pagesLeft === 0 || wantedRuns.size === 0) break;
      }
    }
  }

  /** Returns the known totals of these runs; by default, of all runs. */
  computeTotals(runIds: Iterable<string> = this.#runs.keys()): Totals {
    const runs = [...new Set(runIds)].flatMap(runId => this.#runs.get(runId) ?? []);
    return sumSpend(runs);
  }

  async #readUncounted(): Promise<void> {
    for (const [{ costs }, runs] of groupByConnection(this.#uncountedRuns)) {
      const serviceCosts = await costs?.readRunCosts(runs.map(({ runId }) => runId));
      for (const run of runs) {
        run.serviceCost = serviceCosts?.get(run.runId);
        if (run.serviceCost === undefined) continue;

        this.#uncountedRuns.delete(run);
        this.#setAmount(run, 'credits', parseCredits(run.serviceCost.credits));
        const { cost, standardCost, tokens } = run.serviceCost;
        this.#setAmount(run, 'cost', cost ?? undefined);
        if (cost === null && standardCost !== undefined) this.#raiseEstimate(run, standardCost);

        // A failed run reports 0 tokens, even if the model has counted some.
        if (tokens !== null) run.tokens = tokens.input + tokens.output;
        else if (cost === null && run.tokens === 0) run.tokens = undefined;
      }
    }
  }

  /** Raises the estimate of a run whose cost stays unknown, and of those that follow it. */
  #raiseEstimate(run: SpentRun, cost: Money): void {
    run.estimate = { ...run.estimate, cost: Math.max(cost, run.estimate.cost ?? 0) };
    this.#raiseHighest(run, 'cost', cost);
  }

  /** Counts a known amount; does nothing with an unknown one. */
  #setAmount(run: SpentRun, unit: SpendingUnit, amount: number | undefined): void {
    if (amount === undefined) return;
    this.#raiseHighest(run, unit, amount);
    // Concurrent reads may settle the same run.
    if (run[unit] !== undefined) return;
    run[unit] = amount;
    this.#runsWithUnknown[unit].delete(run);
    this.#sums[unit] += amount;
  }

  #raiseHighest({ costKey, serviceCost }: SpentRun, unit: SpendingUnit, amount: number): void {
    // The cost per answer is known once the embedded service has counted the run.
    const amountPerAnswer =
      unit === 'credits' ? amount : serviceCost && amount / serviceCost.answers;
    if (amountPerAnswer === undefined) return;
    const highest = this.#highestAmounts[unit];
    const costKeysAndModel = serviceCost === undefined ? [costKey] : [costKey, serviceCost.model];
    for (const name of costKeysAndModel) {
      highest.set(name, Math.max(highest.get(name) ?? 0, amountPerAnswer));
    }
  }
}

function groupByConnection(runs: Iterable<SpentRun>): Map<Connection, SpentRun[]> {
  const groups = new Map<Connection, SpentRun[]>();
  for (const run of runs) {
    const group = run.connection && groups.get(run.connection);
    if (group !== undefined) group.push(run);
    else if (run.connection !== undefined) groups.set(run.connection, [run]);
  }
  return groups;
}
