import fc from 'fast-check';

/** Something that must hold whatever it is given. */
export interface Fuzzed {
  /** A sentence. */
  readonly name: string;
  /** @throws with the smallest input that breaks it, and the seed that leads there */
  check(effort: Effort): Promise<void>;
}

export interface Effort {
  readonly seed: number;
  readonly runs: number;
  /** Stops before all runs were made, in milliseconds; by default never. */
  readonly timeLimitMs?: number;
}

/** A property over one arbitrary; `holds` throws or gives false where it is broken. */
export function fuzzed<T>(name: string, arbitrary: fc.Arbitrary<T>, holds: (value: T) => unknown): Fuzzed {
  return {
    name,
    check: ({ seed, runs, timeLimitMs }) =>
      fc.assert(
        fc.asyncProperty(arbitrary, async value => (await holds(value)) !== false),
        {
          seed,
          numRuns: runs,
          ...(timeLimitMs !== undefined && {
            interruptAfterTimeLimit: timeLimitMs,
            markInterruptAsFailure: false,
          }),
        },
      ),
  };
}

/** How long one call may take, in milliseconds: far more than any needs, on a machine that does other things as well. */
const BOUND_MS = 2000;

/** Runs something that must end soon. */
export async function soon<T>(work: () => Promise<T> | T): Promise<T> {
  const startedAt = performance.now();
  const result = await work();
  const ms = performance.now() - startedAt;
  if (ms > BOUND_MS) throw new Error(`it took ${Math.round(ms)} ms`);
  return result;
}
