/**
 * Returns a function that measures time like a clock, but never goes back if the clock is set back, so that a wait does not
 * become longer by it.
 */
export function steadyTime(clock: { now(): number }): () => number {
  let latest = clock.now();
  let lost = 0;
  return () => {
    const time = clock.now() + lost;
    if (time < latest) lost += latest - time;
    latest = Math.max(latest, time);
    return latest;
  };
}
