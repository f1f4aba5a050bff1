/** Returns a function that gives the time but never goes back, so that setting the clock back prolongs no wait. */
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
