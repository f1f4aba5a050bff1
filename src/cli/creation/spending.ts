import type { ReadOptions } from '../../client/request.ts';
import type { RunCost } from '../../service/runs/costs.ts';
import { isOver } from '../../wire/index.ts';
import { MAX_LIST_LIMIT } from '../../wire/limits.ts';
import { dollars, type Money } from '../../wire/money.ts';
import type { Connection } from '../context.ts';
import { type Credits, creditsIn, inCredits } from './caps.ts';

/** What a run is expected to come to; undefined if nobody knows. */
export interface Estimate {
  readonly cost: Money | undefined;
  readonly credits: Credits | undefined;
}

export type Unit = keyof Estimate;

/** What is known of what a run came to; undefined until it is. */
export interface RunFacts {
  readonly credits?: Credits | undefined;
  /** Of this machine's own service. */
  readonly cost?: Money | undefined;
}

/** What a run is expected to come to while nobody knows. */
export const UNKNOWN: Estimate = { cost: undefined, credits: undefined };

/** A run of an earlier start of a command, with what is known of it. */
export interface EarlierRun extends RunFacts {
  readonly runId: string;
  /** undefined if it is not known. */
  readonly promptVersionId?: string | undefined;
  readonly tokens?: number | undefined;
}

/** A run that was made, with what is known of it already. */
export interface MadeRun extends Omit<EarlierRun, 'promptVersionId'> {
  /** To the service that it was made on; undefined if that can't be asked. */
  readonly connection: Connection | undefined;
  /** Runs of one kind are expected to come to the same, as those of one model are; none by default. */
  readonly kind?: string;
  /** What it was expected to come to before it was made; not known by default. */
  readonly estimate?: Estimate;
  /** Whether the list is asked for its credits. Default true. */
  readonly isListed?: boolean;
}

interface SpentRun extends Pick<MadeRun, 'runId' | 'connection'> {
  readonly kind: string;
  readonly estimate: Estimate;
  readonly isListed: boolean;
  tokens: number | undefined;
  credits: Credits | undefined;
  cost: Money | undefined;
  /** As this machine's own service counts it. */
  counted: RunCost | undefined;
}

/** What runs came to. */
export interface Totals extends Sums {
  /** Service tokens, of the runs of which they are known. */
  readonly tokens: number;
  readonly tokensUnknown: number;
  /** The same by model, as far as models are known. */
  readonly models: readonly ModelTotals[];
}

/** What is unknown is counted in runs. */
interface Sums {
  readonly runs: number;
  /** Of the runs whose credits are known; null if none are. */
  readonly credits: number | null;
  readonly creditsUnknown: number;
  /** In US dollars, of the runs whose cost is known; null if none is. */
  readonly cost: number | null;
  readonly costUnknown: number;
  /** Whether some of the cost comes from the kept table of prices. */
  readonly estimated: boolean;
}

interface ModelTotals extends Sums {
  readonly model: string;
  /** As its provider counts them; null if it does not. */
  readonly tokens: { readonly input: number; readonly output: number; readonly cached: number } | null;
}

/** What runs came to: credits by the list of runs; credits and money by this machine's own service. */
export class Spending {
  readonly #runs = new Map<string, SpentRun>();
  /** Runs that this machine's own service has not counted yet. */
  readonly #uncounted = new Set<SpentRun>();
  /** Of runs that are known. */
  readonly #sums = { cost: 0, credits: 0 };
  readonly #unknown = { cost: new Set<SpentRun>(), credits: new Set<SpentRun>() };
  /** The dearest run of each kind, and of each model; its cost by the answer. */
  readonly #dearest = { cost: new Map<string, number>(), credits: new Map<string, number>() };
  #isFresh = false;

  /** Whether runs have ended since the list was last read. */
  get isFresh(): boolean {
    return this.#isFresh;
  }

  /** Of all runs that were taken up. */
  get runIds(): string[] {
    return [...this.#runs.keys()];
  }

  /** Takes up a run that was made, before or now. */
  add({ runId, connection, kind = '', estimate = UNKNOWN, tokens, ...known }: MadeRun): void {
    const former = this.#runs.get(runId);
    if (former !== undefined) {
      former.tokens = tokens ?? former.tokens;
      return;
    }
    const isHere = connection?.costs !== undefined;
    const isListed = !isHere && known.isListed !== false;
    const unknown = { credits: undefined, cost: undefined, counted: undefined };
    const run = { runId, connection, kind, estimate, tokens, isListed, ...unknown };
    this.#runs.set(runId, run);
    this.#unknown.credits.add(run);
    if (isHere) for (const runs of [this.#unknown.cost, this.#uncounted]) runs.add(run);
    this.#settle(run, 'credits', known.credits);
    this.#settle(run, 'cost', known.cost);
    if (isListed && known.credits === undefined) this.#isFresh = true;
  }

  factsOf(runId: string): RunFacts {
    return this.#runs.get(runId) ?? {};
  }

  /** What the dearest run came to among those of any of these kinds or models, its cost by the answer. */
  dearest(...kinds: readonly string[]): Estimate {
    const most = (unit: Unit): number | undefined => {
      const amounts = kinds.flatMap(kind => this.#dearest[unit].get(kind) ?? []);
      return amounts.length === 0 ? undefined : Math.max(...amounts);
    };
    return { cost: most('cost'), credits: most('credits') };
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

  /** Learns what runs came to that ended on this machine's own service. */
  async learnCosts(): Promise<void> {
    for (const [{ costs }, runs] of byConnection(this.#uncounted)) {
      const known = await costs?.of(runs.map(({ runId }) => runId));
      for (const run of runs) {
        run.counted = known?.get(run.runId);
        if (run.counted === undefined) continue;
        this.#uncounted.delete(run);
        this.#settle(run, 'credits', creditsIn(run.counted.credits));
        this.#settle(run, 'cost', run.counted.cost ?? undefined);
      }
    }
  }

  /** Learns the credits of runs from the list, if any have ended since it was last read: a page for each fifty of them. */
  async learnCredits(signal: AbortSignal, options: ReadOptions = {}): Promise<void> {
    if (!this.#isFresh) return;
    this.#isFresh = false;
    const unknown = [...this.#unknown.credits].filter(({ isListed }) => isListed);
    for (const [{ client }, runs] of byConnection(unknown)) {
      const wanted = new Map(runs.map(run => [run.runId, run]));
      let pagesLeft = Math.ceil(runs.length / MAX_LIST_LIMIT);
      for await (const { rows } of client.runs.pages({}, { signal, ...options })) {
        for (const row of rows) {
          const run = wanted.get(row.runId);
          const credits = row.credits === null ? 0 : creditsIn(row.credits);
          if (run !== undefined && isOver(row)) this.#settle(run, 'credits', credits);
          wanted.delete(row.runId);
        }
        pagesLeft -= 1;
        if (pagesLeft === 0 || wanted.size === 0) break;
      }
    }
  }

  #settle(run: SpentRun, unit: Unit, amount: number | undefined): void {
    if (amount === undefined) return;
    const dearest = this.#dearest[unit];
    const { kind, counted } = run;
    // By the answer a cost is known once this machine's own service has counted the run.
    const each = unit === 'credits' ? amount : counted && amount / counted.answers;
    if (each !== undefined) {
      for (const name of counted === undefined ? [kind] : [kind, counted.model]) {
        dearest.set(name, Math.max(dearest.get(name) ?? 0, each));
      }
    }
    // Several may learn of the same run at once.
    if (run[unit] !== undefined) return;
    run[unit] = amount;
    this.#unknown[unit].delete(run);
    this.#sums[unit] += amount;
  }

  /** What runs came to, as far as it has been learnt. @param runIds all by default */
  totals(runIds: Iterable<string> = this.#runs.keys()): Totals {
    const runs = [...new Set(runIds)].flatMap(runId => this.#runs.get(runId) ?? []);
    const models = [...new Set(runs.flatMap(({ counted }) => counted?.model ?? []))].toSorted();
    const tokens = runs.flatMap(run => run.tokens ?? []);
    return {
      ...sumsOf(runs),
      tokens: addUp(tokens) ?? 0,
      tokensUnknown: runs.length - tokens.length,
      models: models.map(model => {
        const own = runs.filter(({ counted }) => counted?.model === model);
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

function byConnection(runs: Iterable<SpentRun>): Map<Connection, SpentRun[]> {
  const groups = new Map<Connection, SpentRun[]>();
  for (const run of runs) {
    const group = run.connection && groups.get(run.connection);
    if (group !== undefined) group.push(run);
    else if (run.connection !== undefined) groups.set(run.connection, [run]);
  }
  return groups;
}

function sumsOf(runs: readonly SpentRun[]): Sums {
  const credits = runs.flatMap(run => run.credits ?? []);
  const costs = runs.flatMap(({ cost }) => cost ?? []);
  return {
    runs: runs.length,
    credits: credits.length === 0 ? null : inCredits(addUp(credits) ?? 0),
    creditsUnknown: runs.length - credits.length,
    cost: costs.length === 0 ? null : dollars(addUp(costs) ?? 0),
    costUnknown: runs.length - costs.length,
    estimated: runs.some(({ counted }) => counted?.estimated === true),
  };
}

function modelTokens(runs: readonly SpentRun[]): ModelTotals['tokens'] {
  const counted = runs.flatMap(run => run.counted?.tokens ?? []);
  if (counted.length === 0) return null;
  const sum = (field: 'input' | 'output' | 'cached'): number =>
    counted.reduce((total, tokens) => total + tokens[field], 0);
  return { input: sum('input'), output: sum('output'), cached: sum('cached') };
}
