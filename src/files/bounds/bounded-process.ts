import type { ChildProcess } from 'node:child_process';
import { toError } from '../error-utils.ts';
import { forkBuilt } from '../start-built.ts';
import { PastBound, pastTime } from './past-bound.ts';
import { type ErrorClasses, errorOf, type Reply } from './process-messages.ts';

export interface BoundedProcessOptions {
  /** The built file that the process runs. */
  readonly file: string;
  readonly memoryMiB: number;
  /** Those that orders may throw besides PastBound. */
  readonly errors?: ErrorClasses;
}

/** What one order may take. */
export interface OrderLimits {
  /** In milliseconds, from when the process says that it has begun. */
  readonly timeMs: number;
  /** Begins the message of a bound. */
  readonly what: string;
  readonly signal?: AbortSignal;
}

/** An order ends itself at its bound, and knows best what it was doing; this much later it is ended, in milliseconds. */
const GRACE_MS = 2000;

/** What Windows, which has no signals, reports of a process that aborted. */
const ABORTED_ON_WINDOWS = 134;

/**
 * A child process with a bound on its memory, which performs one order at a time. What exceeds a bound ends it and
 * nothing else; a thread that runs out of memory can take the whole process with it. It starts with the first order.
 */
export class BoundedProcess {
  #child: ChildProcess | undefined;
  readonly #options: BoundedProcessOptions;

  constructor(options: BoundedProcessOptions) {
    this.#options = options;
  }

  /**
   * Performs an order; the next one may be sent once this is settled.
   *
   * @throws what the order throws, and the signal's reason
   * @throws {PastBound} for an order that takes too much time or memory
   */
  async perform(order: object, { timeMs, what, signal }: OrderLimits): Promise<unknown> {
    signal?.throwIfAborted();
    this.#child ??= this.#start();
    const child = this.#child;
    const settled = new AbortController();
    let timer: NodeJS.Timeout | undefined;
    child.ref();
    child.channel?.ref();
    try {
      return await new Promise((resolve, reject) => {
        const fail = (error: Error): void => {
          this.end();
          reject(error);
        };
        // A process that was busy meanwhile sees its timers before a reply that is there already.
        const onTimeUp = (): void => {
          setImmediate(() => (settled.signal.aborted ? undefined : fail(pastTime(what, timeMs))));
        };
        const onReply = (reply: Reply): void => {
          if (reply.state === 'begun') timer = setTimeout(onTimeUp, timeMs + GRACE_MS);
          else if (reply.state === 'done') resolve(reply.result);
          else reject(errorOf(reply.fault, this.#options.errors ?? new Map()));
        };
        const onExit = (code: number | null, signal: NodeJS.Signals | null): void =>
          fail(this.#deathOf(what, code, signal));
        child.on('message', onReply).on('error', fail).on('exit', onExit);
        const onAbort = (): void => fail(toError(signal?.reason));
        signal?.addEventListener('abort', onAbort, { signal: settled.signal });
        settled.signal.addEventListener('abort', () =>
          child.off('message', onReply).off('error', fail).off('exit', onExit),
        );
        // How it ends says why it could not be sent.
        child.send(order, () => {});
      });
    } catch (error) {
      // What was stopped in its middle may have left the process in any state.
      if (error instanceof PastBound) this.end();
      throw error;
    } finally {
      clearTimeout(timer);
      settled.abort();
      child.unref();
      child.channel?.unref();
    }
  }

  /** Ends the process, whatever it is doing. */
  end(): void {
    // An order that could not be sent is an error of its own, and nobody waits for it any more.
    this.#child?.on('error', () => {}).kill('SIGKILL');
    this.#child = undefined;
  }

  #start(): ChildProcess {
    const { file, memoryMiB } = this.#options;
    // Nothing of this process is its business, keys least of all.
    const child = forkBuilt(file, { memoryMiB, env: {}, serialization: 'advanced' });
    // One that was ended between two orders takes no more.
    return child.once('exit', () => {
      if (this.#child === child) this.#child = undefined;
    });
  }

  /** V8 ends a process that is out of memory by a signal, and so does a system that is. */
  #deathOf(what: string, code: number | null, signal: NodeJS.Signals | null): Error {
    if (signal !== null || code === ABORTED_ON_WINDOWS) {
      return new PastBound(`${what} takes more than ${this.#options.memoryMiB} MiB of memory`);
    }
    return new Error(`${what} failed: its process ended with exit code ${code}`);
  }
}
