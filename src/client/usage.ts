import type { RunRow } from '../wire/index.ts';
import { toDollars, toMoney } from '../wire/money.ts';

/** The usage and cost of a group of runs. */
export interface GroupUsage {
  readonly key: string;
  readonly runs: number;
  readonly failed: number;
  readonly credits: number;
  /** The tokens as the providers count them; null if the service doesn't report tokens. */
  readonly tokens: {
    readonly input: number;
    readonly output: number;
    readonly cached: number;
  } | null;
  /**
   * US dollars for the runs with a known cost; null if their sum is 0 and other costs are unknown.
   */
  readonly cost: number | null;
  /** True if some of the cost comes from the bundled price table. */
  readonly estimated: boolean;
}

/** Adds up the usage of a group of runs without holding them. */
export class UsageTotal {
  #runs = 0;
  #failed = 0;
  #credits = 0;
  #cost: number | null = null;
  #tokens: { input: number; output: number; cached: number } | null = null;
  #estimated = false;
  #unpricedRuns = 0;

  /** The number of ended runs whose cost is unknown. */
  get unpricedRuns(): number {
    return this.#unpricedRuns;
  }

  add({ runStatus, credits, usage }: RunRow): void {
    this.#runs += 1;
    if (runStatus === 'failed') this.#failed += 1;
    if (typeof credits === 'number' && credits >= 0) this.#credits += toMoney(credits);
    if (!usage) return;

    const { tokens, cost, estimated } = usage;
    if (tokens) {
      this.#tokens ??= { input: 0, output: 0, cached: 0 };
      this.#tokens.input += tokens.input;
      this.#tokens.output += tokens.output;
      this.#tokens.cached += tokens.cached;
    }

    const hasEnded = runStatus === 'succeeded' || runStatus === 'failed';
    if (cost === null && hasEnded) this.#unpricedRuns += 1;
    if (cost !== null) this.#cost = (this.#cost ?? 0) + toMoney(cost);
    if (estimated) this.#estimated = true;
  }

  toGroupUsage(key: string): GroupUsage {
    const isCostUnknown = this.#cost === null || (this.#cost === 0 && this.#unpricedRuns > 0);
    return {
      key,
      runs: this.#runs,
      failed: this.#failed,
      credits: toDollars(this.#credits),
      tokens: this.#tokens && { ...this.#tokens },
      cost: isCostUnknown ? null : toDollars(this.#cost ?? 0),
      estimated: this.#estimated,
    };
  }
}

/** Returns the key of the group of a run; a day is the user's local day, such as 2026-11-20. */
export function getUsageKey(
  { runStatus, usage, createdAt }: RunRow,
  grouping: 'day' | 'model' | 'status',
): string {
  if (grouping === 'status') return runStatus;
  if (grouping === 'model') return usage?.model ?? 'unknown';
  // Swedish dates have the form of ISO 8601.
  return new Date(createdAt).toLocaleDateString('sv');
}

/** Returns the measure that bars show: cost if any money was spent, else credits, else runs. */
export function chooseMeasure(rows: readonly GroupUsage[]): 'cost' | 'credits' | 'runs' {
  if (rows.some(({ cost }) => (cost ?? 0) > 0)) return 'cost';
  return rows.some(({ credits }) => credits > 0) ? 'credits' : 'runs';
}
