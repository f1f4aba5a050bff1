import { shared } from './shared-signal.ts';

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
