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

/**
 * Tests a property over one arbitrary; `holds` throws or returns false if it is broken.
 *
 * @param share the part of the runs that is enough; default all of them
 */
export function fuzzed<T>(
  name: string,
  arbitrary: fc.Arbitrary<T>,
  holds: (value: T) => unknown,
  { share = 1 }: { readonly share?: number } = {},
): Fuzzed {
  return {
    name,
    check: ({ seed, runs, timeLimitMs }) =>
      fc.assert(
        fc.asyncProperty(arbitrary, async value => (await holds(value)) !== false),
        {
          seed,
          numRuns: Math.ceil(runs * share),
          ...(timeLimitMs !== undefined && {
            interruptAfterTimeLimit: timeLimitMs,
            markInterruptAsFailure: false,
          }),
        },
      ),
  };
}

/**
 * Maximum processor time of one call in milliseconds, far more than any needs; the clock only finds
 * calls that wait.
 */
const BOUND_MS = 2000;
const WAIT_BOUND_MS = 30_000;

/** Runs something that must end soon. */
export async function withDeadline<T>(work: () => Promise<T> | T): Promise<T> {
  const startedAt = performance.now();
  const before = process.cpuUsage();
  const result = await work();
  const { user, system } = process.cpuUsage(before);
  const [busy, waited] = [(user + system) / 1000, performance.now() - startedAt];
  if (busy > BOUND_MS || waited > WAIT_BOUND_MS) {
    throw new Error(
      `it took ${Math.round(busy)} ms of a processor, ${Math.round(waited)} ms in all`,
    );
  }

  return result;
}
