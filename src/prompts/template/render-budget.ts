import { formatNumber } from '../../utils/format-number.ts';
import { LimitExceededError } from '../../utils/limit-exceeded.ts';
import { BOUNDS } from '../bounds.ts';

export interface RenderLimits {
  readonly maxSteps: number;
  readonly maxBytes: number;
  readonly maxMs: number;
  readonly now: () => number;
  /**
   * Returns the process's own time; default: the clock. It is slow, so it is read only after the
   * clock's limit has passed. The render may then use the limit in own time, so that time spent
   * waiting for other processes doesn't count.
   */
  readonly getOwnTimeMs?: (() => number) | undefined;
}

export const RENDER_LIMITS: RenderLimits = {
  maxSteps: BOUNDS.renderSteps,
  maxBytes: BOUNDS.outputBytes,
  maxMs: BOUNDS.renderMs,
  now: () => performance.now(),
};

/** Number of steps after which the clock is checked again. */
const STEPS_PER_CLOCK_CHECK = 256;

/** Counts what a render uses. Each method throws LimitExceededError, whose message names the limit. */
export class RenderBudget {
  readonly #limits: RenderLimits;
  readonly #startedAt: number;
  #ownTimeAtCheck: number | undefined;
  #steps = 0;
  #stepsAtClockCheck = -STEPS_PER_CLOCK_CHECK;
  #bytes = 0;
  #depth = 0;

  constructor(limits: RenderLimits) {
    this.#limits = limits;
    this.#startedAt = limits.now();
  }

  countSteps(count: number): void {
    const { maxSteps, maxMs, now } = this.#limits;
    this.#steps += count;

    if (this.#steps > maxSteps) {
      throw new LimitExceededError(
        `rendering the prompt takes more than ${formatNumber(maxSteps)} steps`,
      );
    }

    if (this.#steps - this.#stepsAtClockCheck < STEPS_PER_CLOCK_CHECK) return;

    this.#stepsAtClockCheck = this.#steps;

    if (now() - this.#startedAt > maxMs && this.#isOwnTimePast()) {
      throw new LimitExceededError(`rendering the prompt takes longer than ${maxMs / 1000} s`);
    }
  }

  countBytes(bytes: number): void {
    this.#bytes += bytes;
    if (this.#bytes > this.#limits.maxBytes) {
      throw new LimitExceededError(
        `the rendered prompt is larger than ${this.#limits.maxBytes / 1024 / 1024} MiB`,
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
    const { maxMs, getOwnTimeMs } = this.#limits;
    if (!getOwnTimeMs) return true;
    const time = getOwnTimeMs();
    this.#ownTimeAtCheck ??= time;
    return time - this.#ownTimeAtCheck > maxMs;
  }
}

export function createDepthError(): LimitExceededError {
  return new LimitExceededError(
    `more than ${BOUNDS.renderDepth} blocks and partials are inside each other`,
  );
}
