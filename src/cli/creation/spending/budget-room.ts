import { EventEmitter, once } from 'node:events';
import type { CliError } from '../../core/errors.ts';
import { type Caps, capReachedError } from './caps.ts';
import type { Estimate, Spending, SpendingUnit } from './spending.ts';
import { addUp } from './totals.ts';

const BUDGET_UNITS = ['cost', 'credits'] as const;

/** The room that spending, and creations of unknown cost, leave under the caps. */
export class BudgetRoom {
  readonly #caps: Caps;
  readonly #spending: Spending;
  /** The estimates of the creations in progress. */
  readonly #openEstimates = new Set<Estimate>();
  /** The estimates of the creations in doubt, which may have made a run of unknown id. */
  readonly #doubtfulEstimates: Estimate[] = [];
  /** The journal ids of the creations of an earlier invocation that are in doubt. */
  readonly #earlierDoubtIds = new Set<string>();
  readonly #releases = new EventEmitter<{ release: [] }>();

  constructor(caps: Caps, spending: Spending) {
    this.#caps = caps;
    this.#spending = spending;
  }

  get hasCap(): boolean {
    return BUDGET_UNITS.some(unit => this.#caps[unit] !== undefined);
  }

  /** True if no creation is in progress. */
  get isIdle(): boolean {
    return this.#openEstimates.size === 0;
  }

  get hasDoubts(): boolean {
    return this.#doubtfulEstimates.length > 0;
  }

  reserveForEarlierDoubts(ids: readonly string[]): void {
    for (const id of ids) this.#earlierDoubtIds.add(id);
  }

  releaseEarlierDoubts(ids: readonly string[]): void {
    for (const id of ids) this.#earlierDoubtIds.delete(id);
  }

  /**
   * Reserves room for a creation if it fits.
   *
   * @param entryId the journal id of a creation of an earlier invocation that is sent again
   * @returns undefined if the room is reserved, else the unit whose cap the creation exceeds
   */
  tryReserve(estimate: Estimate, entryId: string | undefined): SpendingUnit | undefined {
    const blockedUnit = BUDGET_UNITS.find(unit => !this.#hasRoomFor(unit, estimate, entryId));
    if (blockedUnit === undefined) this.#openEstimates.add(estimate);
    return blockedUnit;
  }

  /** Releases the room of a creation that has ended. */
  release(estimate: Estimate): void {
    this.#openEstimates.delete(estimate);
    this.#releases.emit('release');
  }

  /** Resolves when the room of a creation is released, or the signal aborts. */
  async waitForRelease(signal: AbortSignal): Promise<void> {
    await once(this.#releases, 'release', { signal }).catch(() => {});
  }

  /** Keeps room for a creation that is in doubt until the command ends. */
  reserveForDoubt(estimate: Estimate): void {
    this.#doubtfulEstimates.push(estimate);
  }

  /** Returns the error for a creation that does not fit. */
  capReachedError(
    unit: SpendingUnit,
    needed: number | undefined,
    entryId: string | undefined,
  ): CliError {
    return capReachedError(unit, this.#caps[unit] ?? 0, {
      spent: this.#sumSpent(unit, needed, entryId),
      estimate: needed,
      hasUnknown:
        this.#openEstimates.size + this.#doubtfulEstimates.length + this.#earlierDoubtIds.size > 0,
      awaitsFirst: needed === undefined && this.#openEstimates.size > 0,
    });
  }

  /**
   * Returns true if a creation fits into the rest of a cap; one without an estimate must run alone.
   */
  #hasRoomFor(
    unit: SpendingUnit,
    { [unit]: needed }: Estimate,
    entryId: string | undefined,
  ): boolean {
    const cap = this.#caps[unit];
    if (cap === undefined) return true;
    const spent = this.#sumSpent(unit, needed, entryId);
    if (spent === undefined) return false;
    if (needed !== undefined) return spent + needed <= cap;
    return this.#openEstimates.size === 0 && spent < cap;
  }

  /**
   * Returns the spent and reserved amount without this creation, or undefined if some of it has no
   * estimate.
   */
  #sumSpent(
    unit: SpendingUnit,
    needed: number | undefined,
    entryId: string | undefined,
  ): number | undefined {
    const reserved = [...this.#openEstimates, ...this.#doubtfulEstimates].map(
      ({ [unit]: amount = needed }) => amount,
    );
    const earlier = [...this.#earlierDoubtIds].filter(id => id !== entryId).map(() => needed);
    return addUp([this.#spending.sumWithEstimates(unit, needed), ...earlier, ...reserved]);
  }
}
