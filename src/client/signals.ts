import { setMaxListeners } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';

/** A signal that many requests may listen to: without this Node warns of a leak at the eleventh. */
export function shared<S extends AbortSignal | undefined>(signal: S): S {
  if (signal) setMaxListeners(0, signal);
  return signal;
}

/**
 * What `work` comes to, or the signal's reason as soon as it is aborted. What comes too late goes to `discard`, and a
 * late error nowhere.
 */
export async function abortable<T>(
  work: Promise<T>,
  signal: AbortSignal | undefined,
  discard: (late: T) => void,
): Promise<T> {
  if (signal === undefined) return work;
  let stop = (): void => {};
  const aborted = new Promise<never>((_, reject) => {
    stop = () => reject(signal.reason as Error);
    signal.addEventListener('abort', stop, { once: true });
  });
  try {
    return await Promise.race([work, aborted]);
  } catch (error) {
    if (signal.aborted) work.then(discard, () => {});
    throw error;
  } finally {
    signal.removeEventListener('abort', stop);
  }
}

/** A signal that follows another one and can be given limits of its own. */
export class Deadline {
  readonly #controller = new AbortController();
  readonly #parent: AbortSignal | undefined;
  readonly #timers: NodeJS.Timeout[] = [];
  readonly #follow = (): void => this.#controller.abort(this.#parent?.reason);

  constructor(parent: AbortSignal | undefined) {
    this.#parent = shared(parent);
    parent?.addEventListener('abort', this.#follow, { once: true });
    if (parent?.aborted) this.#follow();
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Aborts after `ms` with the reason made then; never with undefined. */
  limit(ms: number | undefined, reason: () => Error): void {
    if (ms !== undefined) this.#timers.push(setTimeout(() => this.#controller.abort(reason()), ms));
  }

  /** To be called when the work is over, in whatever way. */
  end(): void {
    this.#parent?.removeEventListener('abort', this.#follow);
    for (const timer of this.#timers) clearTimeout(timer);
  }
}

/**
 * Does `work` with a signal that follows `signal` and is aborted after `ms`. Not `AbortSignal.timeout` in an
 * `AbortSignal.any`: Node 20 lets go of a timeout that nobody else holds, and the time is never over.
 */
export async function within<T>(
  ms: number,
  signal: AbortSignal | undefined,
  work: (limited: AbortSignal) => Promise<T>,
): Promise<T> {
  const deadline = new Deadline(signal);
  deadline.limit(ms, () => new Error(`not done in ${ms / 1000} s`));
  try {
    return await work(deadline.signal);
  } finally {
    deadline.end();
  }
}

/** Waits; rejects with the signal's reason once it is aborted. */
export async function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  signal?.throwIfAborted();
  try {
    await delay(ms, undefined, signal && { signal: shared(signal) });
  } catch (error) {
    throw signal?.aborted ? signal.reason : error;
  }
}
