import { setMaxListeners } from 'node:events';

/**
 * Lets many requests listen to one signal: otherwise Node warns of a leak at the eleventh listener.
 */
export function withoutListenerLimit<S extends AbortSignal | undefined>(signal: S): S {
  if (signal) setMaxListeners(0, signal);
  return signal;
}

/**
 * Resolves like `work`, or rejects with the signal's reason as soon as it is aborted. A late result
 * is passed to `discard`; a late error is ignored.
 */
export async function rejectWhenAborted<T>(
  work: Promise<T>,
  signal: AbortSignal | undefined,
  discard: (lateResult: T) => void = () => {},
): Promise<T> {
  if (signal === undefined) return work;
  let rejectNow = (): void => {};

  const aborted = new Promise<never>((_, reject) => {
    rejectNow = () => reject(signal.reason as Error);
    if (signal.aborted) {
      rejectNow();
    } else {
      signal.addEventListener('abort', rejectNow, { once: true });
    }
  });
  try {
    return await Promise.race([work, aborted]);
  } catch (error) {
    if (signal.aborted) work.then(discard, () => {});
    throw error;
  } finally {
    signal.removeEventListener('abort', rejectNow);
  }
}

/** A signal that follows another one and can have its own time limits. */
export class Deadline {
  readonly #controller = new AbortController();
  readonly #parent: AbortSignal | undefined;
  readonly #timers: NodeJS.Timeout[] = [];
  readonly #follow = (): void => this.#controller.abort(this.#parent?.reason);

  constructor(parent: AbortSignal | undefined) {
    this.#parent = withoutListenerLimit(parent);
    parent?.addEventListener('abort', this.#follow, { once: true });
    if (parent?.aborted) this.#follow();
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /**
   * Aborts after `ms` milliseconds with the error that `createReason` makes at that time; undefined
   * sets no limit.
   */
  addLimit(ms: number | undefined, createReason: () => Error): void {
    if (ms !== undefined) {
      this.#timers.push(setTimeout(() => this.#controller.abort(createReason()), ms));
    }
  }

  /** Stops the timers. Call it when the work is over, whether it succeeded or not. */
  end(): void {
    this.#parent?.removeEventListener('abort', this.#follow);
    for (const timer of this.#timers) clearTimeout(timer);
  }
}

/**
 * Runs `work` with a signal that follows `signal` and is aborted after `ms`. `AbortSignal.any` with
 * an `AbortSignal.timeout` won't do: Node 20 collects a timeout that nothing else references, and
 * it never fires.
 */
export async function withTimeout<T>(
  ms: number,
  signal: AbortSignal | undefined,
  work: (limited: AbortSignal) => Promise<T>,
): Promise<T> {
  const deadline = new Deadline(signal);
  deadline.addLimit(ms, () => new Error(`timed out after ${ms / 1000} s`));
  try {
    return await work(deadline.signal);
  } finally {
    deadline.end();
  }
}

/** Returns the result of `work`; undefined as soon as the signal is aborted. */
export function resolveWhenAborted<T>(
  work: Promise<T>,
  signal: AbortSignal,
): Promise<T | undefined> {
  const aborted = new Promise<undefined>(resolve => {
    if (signal.aborted) resolve(undefined);
    signal.addEventListener('abort', () => resolve(undefined), { once: true });
  });
  return Promise.race([work, aborted]);
}

/**
 * Waits `ms` milliseconds; rejects with the signal's reason once it is aborted. Node's own promised
 * timer would make an error with a stack for each sleep that is ended.
 */
export function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  withoutListenerLimit(signal);
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason as Error);

    const onAbort = (): void => {
      clearTimeout(timer);
      reject(signal?.reason as Error);
    };

    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', onAbort);
      resolve();
    }, ms);
    signal?.addEventListener('abort', onAbort, { once: true });
  });
}
