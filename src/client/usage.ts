import type { RunRow } from '../wire/index.ts';
import { dollars, money } from '../wire/money.ts';

/** What the runs of a group took. */
export interface GroupUsage {
  readonly key: string;
  readonly runs: number;
  readonly failed: number;
  readonly credits: number;
  /** As the providers count them; null of a service that does not tell. */
  readonly tokens: { readonly input: number; readonly output: number; readonly cached: number } | null;
  /** In US dollars, as far as it is known. */
  readonly cost: number | null;
  /** Whether some of the cost comes from the kept table of prices. */
  readonly estimated: boolean;
}

export function usageOf(key: string, runs: readonly RunRow[]): GroupUsage {
  const counted = runs.flatMap(({ usage }) => usage?.tokens ?? []);
  const costs = runs.flatMap(({ usage }) => usage?.cost ?? []);
  const tokens = (field: 'input' | 'output' | 'cached'): number => sum(counted.map(one => one[field]));
  return {
    key,
    runs: runs.length,
    failed: runs.filter(({ runStatus }) => runStatus === 'failed').length,
    credits: exactSum(
      runs.flatMap(({ credits }) => (typeof credits === 'number' && credits >= 0 ? credits : [])),
    ),
    tokens:
      counted.length === 0
        ? null
        : { input: tokens('input'), output: tokens('output'), cached: tokens('cached') },
    cost: costs.length === 0 ? null : exactSum(costs),
    estimated: runs.some(({ usage }) => usage?.estimated === true),
  };
}

/** To eight decimals, so that sums of cents don't drift. */
function exactSum(amounts: readonly number[]): number {
  return dollars(sum(amounts.map(money)));
}

function sum(amounts: readonly number[]): number {
  return amounts.reduce((total, amount) => total + amount, 0);
}

/** What a run is counted under; a day is one of the user's clock, as 2026-11-20. */
export function usageKey({ runStatus, usage, createdAt }: RunRow, by: 'day' | 'model' | 'status'): string {
  if (by === 'status') return runStatus;
  return by === 'model' ? (usage?.model ?? 'unknown') : new Date(createdAt).toLocaleDateString('sv');
}

/** What bars are drawn of: money if any was spent, else credits, else runs. */
export function measureOf(rows: readonly GroupUsage[]): 'cost' | 'credits' | 'runs' {
  if (rows.some(({ cost }) => (cost ?? 0) > 0)) return 'cost';
  return rows.some(({ credits }) => credits > 0) ? 'credits' : 'runs';
}
