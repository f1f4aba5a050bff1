import { formatNumber } from '../../utils/grouped-digits.ts';
import { LimitExceededError } from '../../utils/limit-exceeded.ts';
import { BOUNDS } from '../bounds.ts';

export interface Limits {
  readonly steps: number;
  readonly bytes: number;
  readonly ms: number;
  readonly now: () => number;
  /**
   * Returns the process's own time; default: the clock. It is slow, so it is read only after the
   * clock's limit has passed. The render may then use the limit in own time, so that time spent
   * waiting for other processes doesn't count.
   */
  readonly ownTime?: (() => number) | undefined;
}

export const RENDER_LIMITS: Limits = {
  steps: BOUNDS.renderSteps,
  bytes: BOUNDS.outputBytes,
  ms: BOUNDS.renderMs,
  now: () => performance.now(),
};

/** Number of steps after which the clock is checked again. */
const STEPS_PER_CLOCK_CHECK = 256;

/** Counts what a render uses. Each method throws LimitExceededError, whose message names the limit. */
export class RenderBudget {
  readonly #limits: Limits;
  readonly #start: number;
  #ownStart: number | undefined;
  #steps = 0;
  #stepsAtClockCheck = -STEPS_PER_CLOCK_CHECK;
  #bytes = 0;
  #depth = 0;

  constructor(limits: Limits) {
    this.#limits = limits;
    this.#start = limits.now();
  }

  countSteps(count: number): void {
    const { steps, ms, now } = this.#limits;
    this.#steps += count;

    if (this.#steps > steps) {
      throw new LimitExceededError(
        `rendering the prompt takes more than ${formatNumber(steps)} steps`,
      );
    }

    if (this.#steps - this.#stepsAtClockCheck < STEPS_PER_CLOCK_CHECK) return;

    this.#stepsAtClockCheck = this.#steps;

    if (now() - this.#start > ms && this.#isOwnTimePast()) {
      throw new LimitExceededError(`rendering the prompt takes longer than ${ms / 1000} s`);
    }
  }

  countBytes(bytes: number): void {
    this.#bytes += bytes;
    if (this.#bytes > this.#limits.bytes) {
      throw new LimitExceededError(
        `the rendered prompt is larger than ${this.#limits.bytes / 1024 / 1024} MiB`,
      );
    }
  }

  /** Renders a partial one level deeper. */
  renderDeeper(render: () => string): string {
    this.#depth += 1;
    if (this.#depth > BOUNDS.renderDepth) throw createDepthError();
    const text = render();
    this.#depth -= 1;
    return text;
  }

  #isOwnTimePast(): boolean {
    const { ms, ownTime } = this.#limits;
    if (!ownTime) return true;
    const time = ownTime();
    this.#ownStart ??= time;
    return time - this.#ownStart > ms;
  }
}

export function createDepthError(): LimitExceededError {
  return new LimitExceededError(
    `more than ${BOUNDS.renderDepth} blocks and partials are inside each other`,
  );
}
