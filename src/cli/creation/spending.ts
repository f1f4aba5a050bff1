import type { ReadOptions } from '../../client/request.ts';
import type { RunCost } from '../../service/costs/costs.ts';
import { dollars, type Money } from '../../wire/money.ts';
import type { Connection } from '../context.ts';
import { type Credits, creditsIn, inCredits } from './caps.ts';

/** Rows of a page of the list. */
const PAGE = 50;

/** What a run is expected to come to; undefined if nobody knows. */
export interface Estimate {
  readonly cost: Money | undefined;
  readonly credits: Credits | undefined;
}

export type Unit = keyof Estimate;

/** A run that was made. */
export interface MadeRun {
  readonly runId: string;
  readonly connection: Connection;
  /** Runs of one kind are expected to come to the same. */
  readonly kind: string;
  /** What it was expected to come to before it was made. */
  readonly estimate: Estimate;
  /** Service tokens. */
  tokens: number;
}

/** What is known of what a run came to. */
export interface RunFacts {
  /** undefined until they are known. */
  readonly credits: Credits | undefined;
  /** undefined until it is known, and of other services than this machine's own. */
  readonly cost: RunCost | undefined;
}

type SpentRun = MadeRun & { -readonly [F in keyof RunFacts]: RunFacts[F] };

/** What runs came to. */
export interface Totals {
  readonly runs: number;
  /** Of those whose credits are known; null if none are. */
  readonly credits: number | null;
  /** How many runs have credits that are not known. */
  readonly creditsUnknown: number;
  /** Service tokens. */
  readonly tokens: number;
  /** In US dollars, of the runs whose cost is known; null if none is. */
  readonly cost: number | null;
  /** How many runs have a cost that is not known. */
  readonly costUnknown: number;
  /** Whether some of the cost comes from the kept table of prices. */
  readonly estimated: boolean;
  /** The same by model, as far as models are known. */
  readonly models: readonly ModelTotals[];
}

interface ModelTotals extends Omit<Totals, 'models' | 'tokens'> {
  readonly model: string;
  /** As its provider counts them; null if it does not. */
  readonly tokens: { readonly input: number; readonly output: number; readonly cached: number } | null;
}

/** What the runs of a command came to: credits by the list of runs, money by this machine's own service. */
export class Spending {
  readonly #runs = new Map<string, SpentRun>();
  /** Of runs that are known. */
  readonly #sums = { cost: 0, credits: 0 };
  readonly #unknown = { cost: new Set<SpentRun>(), credits: new Set<SpentRun>() };
  /** The dearest run of each kind. */
  readonly #dearest = { cost: new Map<string, number>(), credits: new Map<string, number>() };
  #isFresh = false;

  /** Whether runs have ended since the list was last read. */
  get isFresh(): boolean {
    return this.#isFresh;
  }

  /** Takes up a run that was made, before or now. */
  add(made: MadeRun): void {
    const former = this.#runs.get(made.runId);
    if (former !== undefined) former.tokens = made.tokens;
    if (former !== undefined) return;
    const run = { ...made, credits: undefined, cost: undefined };
    this.#runs.set(run.runId, run);
    this.#unknown.credits.add(run);
    if (made.connection.costs !== undefined) this.#unknown.cost.add(run);
    this.#isFresh = true;
  }

  factsOf(runId: string): RunFacts {
    return this.#runs.get(runId) ?? { credits: undefined, cost: undefined };
  }

  dearest(kind: string): Estimate {
    return { cost: this.#dearest.cost.get(kind), credits: this.#dearest.credits.get(kind) };
  }

  /**
   * What all runs came to; one that is not known counts as estimated.
   *
   * @param usual what counts for a run that has no estimate
   * @returns undefined if some can't even be estimated
   */
  sum(unit: Unit, usual: number | undefined): number | undefined {
    return addUp([this.#sums[unit], ...[...this.#unknown[unit]].map(run => run.estimate[unit] ?? usual)]);
  }

  /** Learns what runs cost that ended on this machine's own service. */
  async learnCosts(): Promise<void> {
    const asked = [...this.#unknown.cost].filter(({ cost }) => cost === undefined);
    for (const [{ costs }, runs] of byConnection(asked)) {
      const known = await costs?.of(runs.map(({ runId }) => runId));
      for (const run of runs) {
        run.cost = known?.get(run.runId);
        this.#settle(run, 'cost', run.cost?.cost ?? undefined);
      }
    }
  }

  /** Learns the credits of runs from the list, if any have ended since it was last read: a page for each fifty of them. */
  async learnCredits(signal: AbortSignal, options: ReadOptions = {}): Promise<void> {
    if (!this.#isFresh) return;
    this.#isFresh = false;
    for (const [{ client }, runs] of byConnection([...this.#unknown.credits])) {
      const wanted = new Map(runs.map(run => [run.runId, run]));
      let startingAfter: string | undefined;
      for (let page = 0; page < Math.ceil(runs.length / PAGE) && wanted.size > 0; page += 1) {
        const query = { limit: PAGE, ...(startingAfter !== undefined && { startingAfter }) };
        const { rows, hasMore } = await client.runs.list(query, { signal, ...options });
        for (const { runId, runStatus, credits } of rows) {
          const run = wanted.get(runId);
          const hasEnded = runStatus === 'succeeded' || runStatus === 'failed';
          if (run !== undefined && hasEnded)
            this.#settle(run, 'credits', credits === null ? 0 : creditsIn(credits));
          wanted.delete(runId);
        }
        startingAfter = rows.at(-1)?.runId;
        if (!hasMore || startingAfter === undefined) break;
      }
    }
  }

  #settle(run: SpentRun, unit: Unit, amount: number | undefined): void {
    // Several may learn of the same run at once.
    if (amount === undefined || !this.#unknown[unit].delete(run)) return;
    if (unit === 'credits') run.credits = amount;
    this.#sums[unit] += amount;
    const dearest = this.#dearest[unit];
    dearest.set(run.kind, Math.max(dearest.get(run.kind) ?? 0, amount));
  }

  /** What all runs came to, as far as it has been learnt. */
  totals(): Totals {
    const runs = [...this.#runs.values()];
    const models = [...new Set(runs.flatMap(({ cost }) => cost?.model ?? []))].toSorted();
    return {
      ...sumsOf(runs),
      tokens: runs.reduce((sum, { tokens }) => sum + tokens, 0),
      models: models.map(model => {
        const own = runs.filter(({ cost }) => cost?.model === model);
        return { model, ...sumsOf(own), tokens: modelTokens(own) };
      }),
    };
  }
}

/** A sum; undefined if an amount is. */
export function addUp(amounts: readonly (number | undefined)[]): number | undefined {
  let sum = 0;
  for (const amount of amounts) {
    if (amount === undefined) return undefined;
    sum += amount;
  }
  return sum;
}

function byConnection(runs: readonly SpentRun[]): Map<Connection, SpentRun[]> {
  const groups = new Map<Connection, SpentRun[]>();
  for (const run of runs) {
    const group = groups.get(run.connection);
    if (group === undefined) groups.set(run.connection, [run]);
    else group.push(run);
  }
  return groups;
}

function sumsOf(runs: readonly SpentRun[]): Omit<Totals, 'models' | 'tokens'> {
  const credits = runs.flatMap(run => run.credits ?? []);
  const costs = runs.flatMap(({ cost }) => cost?.cost ?? []);
  return {
    runs: runs.length,
    credits: credits.length === 0 ? null : inCredits(addUp(credits) ?? 0),
    creditsUnknown: runs.length - credits.length,
    cost: costs.length === 0 ? null : dollars(addUp(costs) ?? 0),
    costUnknown: runs.length - costs.length,
    estimated: runs.some(({ cost }) => cost?.estimated === true),
  };
}

function modelTokens(runs: readonly SpentRun[]): ModelTotals['tokens'] {
  const counted = runs.flatMap(({ cost }) => cost?.tokens ?? []);
  if (counted.length === 0) return null;
  const sum = (field: 'input' | 'output' | 'cached'): number =>
    counted.reduce((total, tokens) => total + tokens[field], 0);
  return { input: sum('input'), output: sum('output'), cached: sum('cached') };
}
