import type { ReadOptions } from '../../client/request.ts';
import type { Run } from '../../wire/index.ts';
import type { Money } from '../../wire/money.ts';
import type { Connection, Context } from '../context.ts';
import { countOf } from '../core/json-value.ts';
import type { CliError } from '../errors.ts';
import type { JournalEntry } from '../settings/journal/journal-lines.ts';
import { type Caps, capReached, costsAreNotTold, creditsIn } from './caps.ts';
import type { CreationRequest } from './creation.ts';
import { type KnownCost, knownCost } from './forecast.ts';
import {
  addUp,
  type EarlierRun,
  type Estimate,
  type MadeRun,
  type RunFacts,
  Spending,
  type Totals,
  UNKNOWN,
  type Unit,
} from './spending.ts';
import { hasPaidCredits, spendingText } from './spending-text.ts';

/** What is kept free for a creation, from before it is sent until it is known what it came to. */
export interface Reservation {
  /** Its run has ended, or goes on without being waited for. */
  made(run: Pick<Run, 'runId'> & Partial<Run>): Promise<void>;
  /** It made no run. */
  refused(): void;
  /** It may have made a run of unknown id, which counts as estimated. */
  lost(): void;
}

interface BudgetOptions {
  /** Aborted once nothing more is to be created; by default the context's signal. */
  readonly until?: AbortSignal;
  /** True if a creation that does not fit is refused alone, and the next may still fit. False by default. */
  readonly continues?: boolean;
}

interface ReserveOptions {
  /** What the service's search says that a run is expected to take. */
  readonly estimatedCredits?: unknown;
  /** The creation is handed over to a provider, at its lower price; room for it is not waited for. */
  readonly providerBatch?: boolean;
  /** A creation of an earlier start of the command that is sent once more. */
  readonly entry?: Pick<JournalEntry, 'id'> | undefined;
}

const UNITS = ['cost', 'credits'] as const;
type Requested = Pick<CreationRequest, 'promptVersionId' | 'recorded'>;

/** The budget of a command: the one place that counts what its runs come to, and that keeps it within the caps. */
export class Budget {
  readonly #ctx: Context;
  readonly #caps: Caps;
  readonly #until: AbortSignal;
  readonly #continues: boolean;
  readonly #spending = new Spending();
  /** What the creations under way, and those whose end is not known, are expected to come to. */
  readonly #open = new Set<Estimate>();
  readonly #lost: Estimate[] = [];
  /** Creations of an earlier start of the command that may have made a run of unknown id, by their ids in the journal. */
  readonly #lostBefore = new Set<string>();
  /** Runs of an earlier start of the command. */
  readonly #runsBefore = new Set<string>();
  #turn: Promise<unknown> = Promise.resolve();
  #wake: () => void = () => {};
  #reached: CliError | undefined;

  constructor(ctx: Context, caps: Caps, { until = ctx.signal, continues = false }: BudgetOptions = {}) {
    this.#ctx = ctx;
    this.#caps = caps;
    this.#until = until;
    this.#continues = continues;
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
    if (this.#caps.cost !== undefined && !costs && recorder?.mode !== 'replay') throw costsAreNotTold();
  }

  /** @throws {CliError} CONFIG_ERROR for a model without a price under `--max-cost`, before anything is created */
  async checkPrice(connection: Connection, request: CreationRequest): Promise<void> {
    if (this.#caps.cost !== undefined && connection.recorder?.mode !== 'replay') {
      await knownCost(connection, request);
    }
  }

  /**
   * Counts what an earlier start of the command spent. The list is asked for credits of its runs only under a cap.
   *
   * @param lost creations that may have made a run of unknown id, by their ids in the journal
   */
  resume(connection: Connection, runs: Iterable<EarlierRun>, lost: Iterable<string>): void {
    for (const { promptVersionId = '', ...run } of runs) {
      const kind = kindOf(connection, { promptVersionId });
      this.#spending.add({ ...run, connection, kind, isListed: this.#isCapped });
      this.#runsBefore.add(run.runId);
    }
    for (const id of lost) this.#lostBefore.add(id);
  }

  /**
   * Waits until a creation fits into the caps beside those that are open.
   *
   * @throws {CliError} CAP_REACHED if it does not fit; USAGE_ERROR for a model without a price under `--max-cost`
   */
  async reserve(
    connection: Connection,
    request: CreationRequest,
    options: ReserveOptions = {},
  ): Promise<Reservation> {
    if (!this.#isCapped || connection.recorder?.mode === 'replay') return this.paid(connection, request);
    const turn = this.#turn.then(() => this.#estimateWithin(connection, request, options));
    this.#turn = turn.catch(() => {});
    const estimate = await turn;
    this.#lostBefore.delete(options.entry?.id ?? '');
    return this.#reservation(connection, request, estimate);
  }

  /** Counts a creation that was paid for before; it is never refused. */
  paid(connection: Connection, request: Requested): Reservation {
    return this.#reservation(connection, request, UNKNOWN);
  }

  /** In turn, so that no two creations take the same room. */
  async #estimateWithin(
    connection: Connection,
    request: CreationRequest,
    { estimatedCredits, providerBatch = false, entry }: ReserveOptions,
  ): Promise<Estimate> {
    const listed = creditsIn(estimatedCredits);
    const expected =
      this.#caps.cost === undefined ? undefined : await knownCost(connection, request, providerBatch);
    for (;;) {
      this.#until.throwIfAborted();
      if (this.#reached !== undefined) throw this.#reached;
      await this.#spending.learnCosts();
      if (this.#caps.credits !== undefined) await this.#learnCredits();
      const dearest = this.#spending.dearest(kindOf(connection, request), expected?.model ?? '');
      const estimate = {
        cost: expected === undefined ? 0 : costWithin(expected, dearest.cost),
        credits: this.#caps.credits === undefined ? 0 : (dearest.credits ?? listed),
      };
      const blocked = UNITS.find(unit => !this.#fits(unit, estimate, entry?.id));
      if (blocked === undefined) {
        this.#open.add(estimate);
        return estimate;
      }
      if (this.#caps.credits !== undefined && this.#spending.isFresh) continue;
      // What is handed over to a provider ends together.
      if (this.#open.size === 0 || providerBatch) {
        const spent = this.#spent(blocked, estimate[blocked], entry?.id);
        const reached = capReached(blocked, this.#caps[blocked] ?? 0, { spent, estimate: estimate[blocked] });
        if (!this.#continues) this.#reached = reached;
        throw reached;
      }
      await this.#untilOneEnds();
    }
  }

  /** Whether a creation fits beside all that is spent and open; one of unknown size must go alone. */
  #fits(unit: Unit, { [unit]: need }: Estimate, entryId: string | undefined): boolean {
    const cap = this.#caps[unit];
    if (cap === undefined) return true;
    const spent = this.#spent(unit, need, entryId);
    if (spent === undefined) return false;
    if (need !== undefined) return spent + need <= cap;
    return this.#open.size === 0 && spent < cap;
  }

  /** Everything that is spent or open but this creation; undefined if some of it can't even be estimated. */
  #spent(unit: Unit, need: number | undefined, entryId: string | undefined): number | undefined {
    const open = [...this.#open, ...this.#lost].map(({ [unit]: amount = need }) => amount);
    const before = [...this.#lostBefore].filter(id => id !== entryId).map(() => need);
    return addUp([this.#spending.sum(unit, need), ...before, ...open]);
  }

  async #untilOneEnds(): Promise<void> {
    await new Promise<void>(resolve => {
      this.#wake = resolve;
      this.#until.addEventListener('abort', this.#wake, { once: true });
    });
    this.#until.removeEventListener('abort', this.#wake);
  }

  #reservation(connection: Connection, request: Requested, estimate: Estimate): Reservation {
    const close = (): void => {
      this.#open.delete(estimate);
      this.#wake();
    };
    return {
      made: async run => {
        await this.#count(connection, run, { kind: kindOf(connection, request), estimate });
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
  waited(connection: Connection, run: Run): Promise<void> {
    return this.#count(connection, run);
  }

  async #count(
    connection: Connection,
    { runId, tokens }: Pick<Run, 'runId'> & Partial<Run>,
    expected: Pick<MadeRun, 'kind' | 'estimate'> = {},
  ): Promise<void> {
    this.#spending.add({ runId, connection, tokens: countOf(tokens), ...expected });
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
    return this.totalsOf();
  }

  /** True if summaries mention credits: a cap is about them, or another service than this machine's own took them. */
  get mentionsCredits(): boolean {
    return this.#caps.credits !== undefined || hasPaidCredits(this.totalsOf());
  }

  /**
   * What the runs came to, for the last lines of a command: first those of now, then all, if there were some before.
   *
   * @param what the command runs, such as `rows`
   */
  spentLines(what: string): string[] {
    if (this.#ctx.isReplay) return [`the ${what} were answered from recordings`];
    const all = this.totalsOf();
    const withCredits = this.mentionsCredits;
    if (this.#runsBefore.size === 0) return spendingText(all, withCredits);
    const now = this.totalsOf(this.#spending.runIds.filter(runId => !this.#runsBefore.has(runId)));
    const ofNow = now.runs === 0 ? ['no run was made'] : spendingText(now, withCredits);
    return [...prefixed('now: ', ofNow), ...prefixed('in all: ', spendingText(all, withCredits))];
  }

  /** What these runs came to, or all, as far as it has been learnt. */
  totalsOf(runIds?: Iterable<string>): Totals {
    return this.#spending.totals(runIds);
  }

  /** What the list does not tell stays unknown. */
  async #learnCredits(options: ReadOptions = {}): Promise<void> {
    const { signal } = this.#ctx;
    await this.#spending.learnCredits(signal, options).catch(() => signal.throwIfAborted());
  }
}

function prefixed(prefix: string, [first, ...more]: readonly string[]): string[] {
  return first === undefined ? [] : [`${prefix}${first}`, ...more];
}

/** What a creation is expected to cost, in view of the dearest answer so far; at least its prompt's own tokens. */
function costWithin(
  { cost, promptCost, answers }: KnownCost,
  perAnswer: number | undefined,
): Money | undefined {
  const expected = perAnswer === undefined ? cost : Math.round(perAnswer * answers);
  if (expected === undefined) return undefined;
  return Math.max(expected, promptCost ?? 0);
}

/** Runs of one version, with one model, are expected to come to the same. */
function kindOf({ service }: Connection, { promptVersionId, recorded }: Requested): string {
  return JSON.stringify([service, promptVersionId, recorded?.model ?? null]);
}
