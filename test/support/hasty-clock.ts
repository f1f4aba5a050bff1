import type { Clock } from '../../src/cli/core/clock.ts';
import { TEST_NOW } from './context.ts';

/** The pause between two lines of progress, in milliseconds. */
const PROGRESS_MS = 10_000;

/**
 * Returns a clock that moves on by a millisecond each time it is read. Sleeps are over at once,
 * except the pause between two lines of progress, and those that `held` holds up.
 */
export function createHastyClock(
  held: (ms: number, signal: AbortSignal | undefined) => Promise<unknown> | undefined = () =>
    undefined,
): Clock {
  let now = TEST_NOW;
  return {
    now: () => (now += 1),
    random: () => 0.5,
    async sleep(ms, signal) {
      signal?.throwIfAborted();
      await (ms === PROGRESS_MS ? waitUntilAborted(signal) : held(ms, signal));
      await new Promise(resolve => setImmediate(resolve));
      signal?.throwIfAborted();
      now += ms;
    },
  };
}

/** Rejects with the signal's reason once it is aborted. */
export function waitUntilAborted(signal: AbortSignal | undefined): Promise<never> {
  return new Promise((_, reject) => {
    signal?.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
  });
}
