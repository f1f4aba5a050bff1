import { LimitExceededError } from '../../utils/limit-exceeded.ts';

/** Limits of a conversion in a process that does other work too. */
export interface ConversionLimits {
  /** Maximum size of the files that the converted one names, in bytes. */
  readonly maxFileBytes: number;
  /** Maximum of the process's own time that a conversion takes, in milliseconds. */
  readonly maxOwnTimeMs: number;
  /**
   * Returns the process's own time in milliseconds, so that time spent waiting for other processes
   * doesn't count.
   */
  readonly getOwnTimeMs: () => number;
}

/**
 * Counts what a conversion uses. Each method throws LimitExceededError once it exceeds the limits.
 */
export class ConversionBudget {
  readonly #limits: ConversionLimits | undefined;
  readonly #startedAt: number;
  #fileBytes = 0;

  /** @param limits default none */
  constructor(limits?: ConversionLimits) {
    this.#limits = limits;
    this.#startedAt = limits?.getOwnTimeMs() ?? 0;
  }

  countFile(bytes: number): void {
    this.#fileBytes += bytes;
    if (this.#limits && this.#fileBytes > this.#limits.maxFileBytes) {
      throw new LimitExceededError('the files that it names are too large');
    }
  }

  /** Counts a search for files by a pattern, which can take any time. */
  countSearch(): void {
    if (this.#limits) throw new LimitExceededError('it searches for files');
  }

  /** Counts a part, such as a case. */
  countStep(): void {
    const limits = this.#limits;
    if (limits && limits.getOwnTimeMs() - this.#startedAt > limits.maxOwnTimeMs) {
      throw new LimitExceededError('the conversion takes too long');
    }
  }
}
