import type { ReadOptions } from '../../../client/request-options.ts';
import { toCount } from '../../../files/formats/json-fields.ts';
import type { Run } from '../../../wire/index.ts';
import type { Money } from '../../../wire/money.ts';
import type { Connection, Context } from '../../context.ts';
import type { CliError } from '../../core/errors.ts';
import type { PaidRun } from '../../outputs/not-printed.ts';
import type { JournalEntry } from '../../settings/journal/journal-lines.ts';
import type { CreationRequest } from '../creation-result.ts';
import { BudgetRoom } from './budget-room.ts';
import { type Caps, checkCostCap } from './caps.ts';
import { type Credits, parseCredits } from './credits.ts';
import { type CappedEstimate, estimateCappedCost } from './forecast.ts';
import {
  type EarlierRun,
  type Estimate,
  type RunToCount,
  Spending,
  UNKNOWN_ESTIMATE,
} from './spending.ts';
import { hasPaidCredits, type RunSpend, type Totals } from './totals.ts';

/** Room in a budget for a creation, held from before it is sent until its cost is known. */
export interface Reservation {
  /** Counts the run of the creation, which has ended or continues without the command. */
  commitRun(run: Pick<Run, 'runId'> & Partial<Run>): Promise<void>;
  /** Releases the room: the creation made no run. */
  release(): void;
  /** Counts the estimate: the creation may have made a run of unknown id. */
  markInDoubt(): void;
}

interface BudgetOptions {
  /** Aborts once no more runs may be created; by default the context's signal. */
  readonly stopSignal?: AbortSignal;
  /** True to refuse only the creation that does not fit, since the next may fit. Default false. */
  readonly refusesOneByOne?: boolean;
}

interface ReserveOptions {
  /** The estimate in the service's search results. */
  readonly estimatedCredits?: unknown;
  /**
   * True for a request in a provider's batch, at its lower price; such a request does not wait for
   * room.
   */
  readonly providerBatch?: boolean;
  /** A creation of an earlier invocation that is sent again. */
  readonly entry?: Pick<JournalEntry, 'id'> | undefined;
}

type RequestedVersion = Pick<CreationRequest, 'promptVersionId'>;

/** The spending of an earlier invocation, certain or possible. */
export interface EarlierSpending {
  readonly runs: readonly EarlierRun[];
  /** The journal ids of creations that may have made a run of unknown id. */
  readonly doubtIds: readonly string[];
}

const NO_SPENDING = {
  credits: 0,
  creditsUnknown: 0,
  cost: 0,
  costUnknown: 0,
  tokens: 0,
  tokensUnknown: 0,
  models: [],
};

/** The budget of a command. Counts the spending of its runs and keeps it within the caps. */
export class Budget {
  readonly #ctx: Context;
  readonly #caps: Caps;
  readonly #stopSignal: AbortSignal;
  readonly #refusesOneByOne: boolean;
  readonly #spending = new Spending();
  readonly #room: BudgetRoom;
  /** The ids of an earlier invocation's runs. */
  readonly #earlierRunIds = new Set<string>();
  /** Resolves when the latest reservation has its room, or was refused. */
  #lastReservation: Promise<unknown> = Promise.resolve();
  #capError: CliError | undefined;

  constructor(
    ctx: Context,
    caps: Caps,
    { stopSignal = ctx.signal, refusesOneByOne = false }: BudgetOptions = {},
  ) {
    this.#ctx = ctx;
    this.#caps = caps;
    this.#room = new BudgetRoom(caps, this.#spending);
    this.#stopSignal = stopSignal;
    this.#refusesOneByOne = refusesOneByOne;
  }

  /** The error that stops all further creations; undefined while there is room. */
  get capError(): CliError | undefined {
    return this.#capError;
  }

  /** True if the answers come from recordings. */
  get isReplay(): boolean {
    return this.#ctx.isReplay;
  }

  /** True if an earlier invocation made runs. */
  get hasEarlierRuns(): boolean {
    return this.#earlierRunIds.size > 0;
  }

  /** The runs that this invocation made; none in a replay. */
  get newRuns(): readonly PaidRun[] {
    if (this.#ctx.isReplay) return [];
    return this.#spending.runs.filter(({ runId }) => !this.#earlierRunIds.has(runId));
  }

  /** True under a cap on credits, which then limits those of the embedded service, too. */
  get hasCreditCap(): boolean {
    return this.#caps.credits !== undefined;
  }

  /**
   * True if summaries mention credits: they have a cap, or a service other than this machine's own
   * took them.
   */
  get showsCredits(): boolean {
    return this.hasCreditCap || hasPaidCredits(this.computeTotals());
  }

  /**
   * Checks that the service reports costs if `--max-cost` needs them.
   *
   * @throws {CliError} USAGE_ERROR if it doesn't
   */
  checkCostCap(connection: Connection): void {
    checkCostCap(this.#caps, connection);
  }

  /**
   * Checks, before anything is created, that the model has a price if `--max-cost` needs it.
   *
   * @throws {CliError} CONFIG_ERROR if it has none
   */
  async checkPrice(connection: Connection, request: CreationRequest): Promise<void> {
    if (this.#caps.cost !== undefined && connection.recorder?.mode !== 'replay') {
      await estimateCappedCost(connection, request);
    }
  }

  /**
   * Counts the spending of an earlier invocation. Under a cap, the credits of its runs are
   * read from the service's list of runs; without one, they are not.
   */
  countEarlierSpending(connection: Connection, { runs, doubtIds }: EarlierSpending): void {
    for (const { promptVersionId = '', ...run } of runs) {
      const costKey = getCostKey(connection, { promptVersionId });
      this.#spending.add({ ...run, connection, costKey, isListed: this.#room.hasCap });
      this.#earlierRunIds.add(run.runId);
    }
    this.#room.reserveForEarlierDoubts(doubtIds);
  }

  /** Stops counting creations of an earlier invocation that made no run. */
  releaseEarlierDoubts(ids: readonly string[]): void {
    this.#room.releaseEarlierDoubts(ids);
  }

  /**
   * Waits until a creation fits into the caps together with those in progress.
   *
   * @throws {CliError} CAP_REACHED if it does not fit; CONFIG_ERROR for a model without a price
   * under `--max-cost`
   */
  async reserve(
    connection: Connection,
    request: CreationRequest,
    options: ReserveOptions = {},
  ): Promise<Reservation> {
    if (!this.#room.hasCap || connection.recorder?.mode === 'replay') {
      return this.reserveUncapped(connection, request);
    }

    const pendingEstimate = this.#lastReservation.then(() =>
      this.#reserveRoom(connection, request, options),
    );
    this.#lastReservation = pendingEstimate.catch(() => {});
    const estimate = await pendingEstimate;
    if (options.entry) this.releaseEarlierDoubts([options.entry.id]);

    return this.#createReservation(connection, request, estimate);
  }

  /** Counts a creation whatever the caps, since none applies or it is already paid for. */
  reserveUncapped(connection: Connection, request: RequestedVersion): Reservation {
    return this.#createReservation(connection, request, UNKNOWN_ESTIMATE);
  }

  /** Counts a run that the command waited for, whoever created it. */
  countWaitedRun(connection: Connection, run: Run): Promise<void> {
    return this.#count(connection, run);
  }

  /** Returns the known cost and credits of a run. */
  getRunSpend(runId: string): RunSpend {
    return this.#spending.getRunSpend(runId);
  }

  /**
   * Returns the totals of all runs. Leaves out amounts that can't be read.
   *
   * With `readsList`, reads credits from the service's list of runs; after creations in doubt, the
   * search for their runs has read it already.
   */
  async readTotals({ readsList }: { readonly readsList: boolean }): Promise<Totals> {
    await this.#spending.readCosts().catch(() => {});
    if (readsList && !this.#room.hasDoubts) await this.#readCredits({ retries: 0 });
    return this.computeTotals();
  }

  /**
   * Returns the known totals of these runs; by default, of all runs. Recorded answers cost nothing.
   */
  computeTotals(runIds?: Iterable<string>): Totals {
    const totals = this.#spending.computeTotals(runIds);
    return this.#ctx.isReplay ? { ...totals, ...NO_SPENDING } : totals;
  }

  /**
   * Reserves room for a creation and returns its estimate. Runs one call at a time, so that no two
   * reserve the same room.
   */
  async #reserveRoom(
    connection: Connection,
    request: CreationRequest,
    { estimatedCredits, providerBatch = false, entry }: ReserveOptions,
  ): Promise<Estimate> {
    const listedCredits = parseCredits(estimatedCredits);
    const costEstimate =
      this.#caps.cost === undefined
        ? undefined
        : await estimateCappedCost(connection, request, { providerBatch });

    const costKey = getCostKey(connection, request);

    // Ends with room or an error: each round reads newer amounts or waits for a creation to end.
    for (;;) {
      this.#stopSignal.throwIfAborted();
      if (this.#capError !== undefined) throw this.#capError;

      const estimate = await this.#estimateByRunsSoFar(costKey, costEstimate, listedCredits);
      const blockedUnit = this.#room.tryReserve(estimate, entry?.id);
      if (blockedUnit === undefined) return estimate;
      if (this.hasCreditCap && this.#spending.hasUnreadCredits) continue;

      // The requests in a provider's batch end together.
      if (this.#room.isIdle || providerBatch) {
        const amount = estimate[blockedUnit];
        const capError = this.#room.capReachedError(blockedUnit, amount, entry?.id);
        if (!this.#refusesOneByOne) this.#capError = capError;
        throw capError;
      }

      await this.#room.waitForRelease(this.#stopSignal);
    }
  }

  /** Reads the amounts of the runs so far, and estimates a creation by the most expensive one. */
  async #estimateByRunsSoFar(
    costKey: string,
    costEstimate: CappedEstimate | undefined,
    listedCredits: Credits | undefined,
  ): Promise<Estimate> {
    await this.#spending.readCosts();
    if (this.hasCreditCap) await this.#readCredits();
    const highest = this.#spending.findMostExpensive(costKey, costEstimate?.model ?? '');
    return {
      cost: costEstimate === undefined ? 0 : estimateCreationCost(costEstimate, highest.cost),
      credits: this.hasCreditCap ? (highest.credits ?? listedCredits) : 0,
    };
  }

  #createReservation(
    connection: Connection,
    request: RequestedVersion,
    estimate: Estimate,
  ): Reservation {
    // A reservation may last as long as a provider's batch: it must not keep the request alive.
    const costKey = getCostKey(connection, request);
    const release = (): void => this.#room.release(estimate);
    return {
      commitRun: async run => {
        await this.#count(connection, run, { costKey, estimate });
        release();
      },
      release,
      markInDoubt: () => {
        this.#room.reserveForDoubt(estimate);
        release();
      },
    };
  }

  async #count(
    connection: Connection,
    { runId, tokens }: Pick<Run, 'runId'> & Partial<Run>,
    estimates: Pick<RunToCount, 'costKey' | 'estimate'> = {},
  ): Promise<void> {
    this.#spending.add({ runId, connection, tokens: toCount(tokens), ...estimates });
    await this.#spending.readCosts().catch(() => {});
  }

  /** Reads credits from the service's list of runs; those that it lacks stay unknown. */
  async #readCredits(options: ReadOptions = {}): Promise<void> {
    const { signal } = this.#ctx;
    await this.#spending.readCredits(signal, options).catch(() => signal.throwIfAborted());
  }
}

/**
 * Estimates a creation by the most expensive answer so far, and at least by the tokens of its
 * prompt.
 */
function estimateCreationCost(
  { cost, promptCost, answers }: CappedEstimate,
  costPerAnswer: number | undefined,
): Money | undefined {
  const expectedCost = costPerAnswer === undefined ? cost : Math.round(costPerAnswer * answers);
  if (expectedCost === undefined) return undefined;
  return Math.max(expectedCost, promptCost ?? 0);
}

/**
 * Returns a key for runs that are expected to cost the same: those of one version, which has one
 * model.
 */
function getCostKey({ serviceName }: Connection, { promptVersionId }: RequestedVersion): string {
  return JSON.stringify([serviceName, promptVersionId]);
}
