import { LimitExceeded } from '../../utils/limit-exceeded.ts';

/** Limits of a conversion in a process that does other work too. */
export interface ConversionLimits {
  /** Maximum size of the files that the converted one names, in bytes. */
  readonly fileBytes: number;
  /** Maximum of the process's own time, in milliseconds. */
  readonly ms: number;
  /**
   * Returns the process's own time, so that time spent waiting for other processes doesn't count.
   */
  readonly ownTime: () => number;
}

/** Counts what a conversion uses. Each method throws LimitExceeded once that is past its limits. */
export class ConversionBudget {
  readonly #limits: ConversionLimits | undefined;
  readonly #start: number;
  #bytes = 0;

  /** @param limits default none */
  constructor(limits?: ConversionLimits) {
    this.#limits = limits;
    this.#start = limits?.ownTime() ?? 0;
  }

  countFile(bytes: number): void {
    this.#bytes += bytes;
    if (this.#limits && this.#bytes > this.#limits.fileBytes) {
      throw new LimitExceeded('the files that it names are too large');
    }
  }

  /** Counts a search for files by a pattern, which can take any time. */
  countSearch(): void {
    if (this.#limits) throw new LimitExceeded('it searches for files');
  }

  /** Counts a part, such as a case. */
  countStep(): void {
    const limits = this.#limits;
    if (limits && limits.ownTime() - this.#start > limits.ms) {
      throw new LimitExceeded('the conversion takes too long');
    }
  }
}
