import type { ReadOptions } from '../../client/request.ts';
import type { Run } from '../../wire/index.ts';
import type { Connection, Context } from '../context.ts';
import { type CliError, configError, usageError } from '../errors.ts';
import { type CapFlags, type Caps, capReached, creditsIn, parseCaps } from './caps.ts';
import { estimateCost } from './forecast.ts';
import type { CreationRequest } from './send-creation.ts';
import { addUp, type Estimate, type RunFacts, Spending, type Totals, type Unit } from './spending.ts';

/** What is kept free for a creation, from before it is sent until it is known what it came to. */
export interface Reservation {
  /** Its run has ended, or goes on without being waited for. */
  made(run: Pick<Run, 'runId'> & Partial<Run>): Promise<void>;
  /** It made no run. */
  refused(): void;
  /** It may have made a run of unknown id, which counts as estimated. */
  lost(): void;
}

const UNITS = ['cost', 'credits'] as const;
type Requested = Pick<CreationRequest, 'promptVersionId' | 'recorded'>;

/** The budget of a command: the one place that counts what its runs come to, and that keeps it within the caps. */
export class Budget {
  readonly #ctx: Context;
  readonly #caps: Caps;
  readonly #until: AbortSignal;
  readonly #spending = new Spending();
  /** What the creations under way, and those whose end is not known, are expected to come to. */
  readonly #open = new Set<Estimate>();
  readonly #lost: Estimate[] = [];
  /** Runs of an earlier start of the command whose ids nobody knows. */
  #lostBefore = 0;
  #turn: Promise<unknown> = Promise.resolve();
  #wake: () => void = () => {};
  #reached: CliError | undefined;

  /** @param until aborted once nothing more is to be created; the context's signal by default */
  constructor(ctx: Context, caps: Caps, until: AbortSignal = ctx.signal) {
    this.#ctx = ctx;
    this.#caps = caps;
    this.#until = until;
  }

  /** The error that says that nothing more is created; undefined while there is room. */
  get reached(): CliError | undefined {
    return this.#reached;
  }

  get #isCapped(): boolean {
    return UNITS.some(unit => this.#caps[unit] !== undefined);
  }

  /** @throws {CliError} USAGE_ERROR for `--max-cost` at another service, which does not say what a run costs */
  check({ costs, recorder }: Connection): void {
    if (this.#caps.cost === undefined || costs !== undefined || recorder?.mode === 'replay') return;
    throw usageError(
      "--max-cost is for this machine's own service: another one does not tell what a run costs",
      'Bound the credits instead, with --max-credits <n>.',
    );
  }

  /** Counts what an earlier start of the command spent, if there is a cap: its runs, and creations that may have made one. */
  resume(
    connection: Connection,
    runs: ReadonlyMap<string, { readonly tokens: number }>,
    lost: number,
    promptVersionId = '',
  ): void {
    if (!this.#isCapped) return;
    const estimate = { cost: undefined, credits: undefined };
    const kind = kindOf(connection, { promptVersionId });
    for (const [runId, { tokens }] of runs) {
      this.#spending.add({ runId, connection, kind, estimate, tokens });
    }
    this.#lostBefore += lost;
  }

  /**
   * Waits until a creation fits into the caps beside those that are open.
   *
   * @param listed what the service's search says that a run is expected to take; `providerBatch` takes room for a creation
   *   that is handed over to a provider, at its lower price, and does not wait
   * @throws {CliError} CAP_REACHED if it does not fit; USAGE_ERROR for a model without a price under `--max-cost`
   */
  async reserve(
    connection: Connection,
    request: CreationRequest,
    listed: { readonly estimatedCredits?: unknown; readonly providerBatch?: boolean } = {},
  ): Promise<Reservation> {
    if (!this.#isCapped || connection.recorder?.mode === 'replay') return this.paid(connection, request);
    const turn = this.#turn.then(() => this.#estimateWithin(connection, request, listed));
    this.#turn = turn.catch(() => {});
    return this.#reservation(connection, request, await turn);
  }

  /** Counts a creation that was paid for before; it is never refused. */
  paid(connection: Connection, request: Requested): Reservation {
    return this.#reservation(connection, request, NOTHING);
  }

  /** In turn, so that no two creations take the same room. */
  async #estimateWithin(
    connection: Connection,
    request: CreationRequest,
    { estimatedCredits, providerBatch = false }: Parameters<Budget['reserve']>[2] & object,
  ): Promise<Estimate> {
    const listed = creditsIn(estimatedCredits);
    const signal = this.#until;
    const expected = await this.#expected(connection, request, providerBatch);
    for (;;) {
      signal.throwIfAborted();
      if (this.#reached !== undefined) throw this.#reached;
      await this.#learn();
      const dearest = this.#spending.dearest(kindOf(connection, request));
      const estimate = {
        cost: expected && Math.max(dearest.cost ?? expected.first, expected.least),
        credits: this.#caps.credits === undefined ? 0 : (dearest.credits ?? listed),
      };
      const blocked = UNITS.find(unit => !this.#fits(unit, estimate));
      if (blocked === undefined) {
        this.#open.add(estimate);
        return estimate;
      }
      if (this.#caps.credits !== undefined && this.#spending.isFresh) continue;
      // What is handed over to a provider ends together.
      if (this.#open.size === 0 || providerBatch) {
        this.#reached = capReached(
          blocked,
          this.#caps[blocked] ?? 0,
          this.#spent(blocked, estimate[blocked]),
        );
        throw this.#reached;
      }
      await this.#untilOneEnds(signal);
    }
  }

  /** What the creation costs at first sight, and at least. @throws {CliError} for a model without a price */
  async #expected(
    connection: Connection,
    request: CreationRequest,
    providerBatch: boolean,
  ): Promise<{ first: number; least: number } | undefined> {
    if (this.#caps.cost === undefined) return { first: 0, least: 0 };
    const estimate = await estimateCost(connection, request, providerBatch);
    if (estimate === undefined) return { first: 0, least: 0 };
    if (estimate.cost !== null) return { first: estimate.cost, least: estimate.promptCost ?? 0 };
    throw configError(
      `the price of the model ${estimate.model} is not known, so --max-cost can't hold`,
      'Name it in models.yaml: price: {input: <dollars a million tokens>, output: <dollars a million tokens>}',
    );
  }

  /** Whether a creation fits beside all that is spent and open; one of unknown size must go alone. */
  #fits(unit: Unit, { [unit]: need }: Estimate): boolean {
    const cap = this.#caps[unit];
    if (cap === undefined) return true;
    const spent = this.#spent(unit, need);
    if (spent === undefined) return false;
    if (need !== undefined) return spent + need <= cap;
    return this.#open.size === 0 && spent < cap;
  }

  /** Everything that is spent or open; undefined if some of it can't even be estimated. */
  #spent(unit: Unit, need: number | undefined): number | undefined {
    const open = [...this.#open, ...this.#lost].map(estimate => estimate[unit]);
    const before = this.#lostBefore === 0 ? 0 : need && need * this.#lostBefore;
    return addUp([this.#spending.sum(unit, need), before, ...open]);
  }

  async #untilOneEnds(signal: AbortSignal): Promise<void> {
    await new Promise<void>(resolve => {
      this.#wake = resolve;
      signal.addEventListener('abort', () => resolve(), { once: true });
    });
  }

  async #learn(): Promise<void> {
    if (this.#caps.cost !== undefined) await this.#spending.learnCosts();
    if (this.#caps.credits !== undefined) await this.#learnCredits();
  }

  #reservation(connection: Connection, request: Requested, estimate: Estimate): Reservation {
    const close = (): void => {
      this.#open.delete(estimate);
      this.#wake();
    };
    return {
      made: async ({ runId, tokens = 0 }) => {
        const kind = kindOf(connection, request);
        this.#spending.add({ runId, connection, kind, estimate, tokens });
        await this.#spending.learnCosts().catch(() => {});
        close();
      },
      refused: close,
      lost: () => {
        this.#lost.push(estimate);
        close();
      },
    };
  }

  /** Counts a run that was waited for, whoever created it. */
  async waited(connection: Connection, { runId, tokens }: Run): Promise<void> {
    this.#spending.add({ runId, connection, kind: '', estimate: NOTHING, tokens });
    await this.#spending.learnCosts().catch(() => {});
  }

  /** What one run came to, as far as it is known. */
  factsOf(runId: string): RunFacts {
    return this.#spending.factsOf(runId);
  }

  /**
   * What all runs came to; what can't be learnt is left out.
   *
   * @param asks whether the list may be asked for credits; it is not after creations in doubt, for which it was read
   */
  async totals(asks: boolean): Promise<Totals> {
    await this.#spending.learnCosts().catch(() => {});
    if (asks && this.#lost.length === 0) await this.#learnCredits({ retries: 0 });
    return this.#spending.totals();
  }

  /** What the list does not tell stays unknown. */
  async #learnCredits(options: ReadOptions = {}): Promise<void> {
    const { signal } = this.#ctx;
    await this.#spending.learnCredits(signal, options).catch(() => signal.throwIfAborted());
  }
}

const NOTHING: Estimate = { cost: 0, credits: 0 };

/** Runs of one version, with one model, are expected to come to the same. */
function kindOf({ service }: Connection, { promptVersionId, recorded }: Requested): string {
  return JSON.stringify([service, promptVersionId, recorded?.model ?? null]);
}

/** The budget that flags ask for. @throws {CliError} USAGE_ERROR for what is not a number */
export function budgetOf(ctx: Context, flags: CapFlags): Budget {
  return new Budget(ctx, parseCaps(flags));
}
