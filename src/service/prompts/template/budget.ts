import { BOUNDS, PastBound } from '../bounds.ts';

/** What one render may use up; the clock is asked for milliseconds. */
export interface Limits {
  readonly steps: number;
  readonly bytes: number;
  readonly ms: number;
  readonly now: () => number;
}

export const RENDER_LIMITS: Limits = {
  steps: BOUNDS.renderSteps,
  bytes: BOUNDS.outputBytes,
  ms: BOUNDS.renderMs,
  now: () => performance.now(),
};

/** Counts what a render uses up. Throws PastBound, whose message names the bound. */
export class Budget {
  private steps = 0;
  private bytes = 0;
  private depth = 0;
  private readonly start: number;

  /** @param start when the work began that the time limit is for; default now */
  constructor(
    private readonly limits: Limits = RENDER_LIMITS,
    start: number = limits.now(),
  ) {
    this.start = start;
  }

  step(count = 1): void {
    const before = this.steps;
    this.steps += count;
    const { steps, ms } = this.limits;
    if (this.steps > steps) {
      throw new PastBound(`rendering the prompt takes more than ${grouped(steps)} steps`);
    }
    const isTimeToLook = Math.floor(before / 256) < Math.floor(this.steps / 256) || before === 0;
    if (isTimeToLook && this.limits.now() - this.start > ms) {
      throw new PastBound(`rendering the prompt takes longer than ${ms / 1000} s`);
    }
  }

  write(bytes: number): void {
    this.bytes += bytes;
    if (this.bytes > this.limits.bytes) {
      throw new PastBound(`the rendered prompt is larger than ${this.limits.bytes / 1024 / 1024} MiB`);
    }
  }

  /** Does something one level deeper. */
  deeper(action: () => void): void {
    this.depth += 1;
    if (this.depth > BOUNDS.renderDepth) {
      throw new PastBound(`more than ${BOUNDS.renderDepth} blocks and partials are inside each other`);
    }
    action();
    this.depth -= 1;
  }
}

function grouped(count: number): string {
  return count.toLocaleString('en-US');
}
