import type { ChildProcess } from 'node:child_process';
import { forkBuilt } from '../files/installed/start-built.ts';
import { toError } from '../utils/error-utils.ts';
import { PastBound, pastTime } from '../utils/past-bound.ts';
import { type ErrorClasses, type ProcessReply, restoreError } from './process-messages.ts';

export interface BoundedProcessOptions {
  /** The build output that the process runs. */
  readonly file: string;
  readonly memoryMiB: number;
  /** The classes of errors that orders may throw in addition to PastBound. */
  readonly errors?: ErrorClasses;
}

export interface OrderLimits {
  /** Maximum time in milliseconds, from the start of the work. */
  readonly timeMs: number;
  /** The subject of messages about limits. */
  readonly what: string;
  readonly signal?: AbortSignal;
}

/** Extra time for an order to end itself with a better message before its process is killed, in milliseconds. */
const PROCESS_GRACE_MS = 2000;

/** The exit code of an aborted process on Windows, which has no signals. */
const ABORTED_ON_WINDOWS = 134;

/**
 * A child process with a memory limit, which performs one order at a time. Exceeding a limit ends only the child; a thread
 * that runs out of memory could end the whole process. Starts with the first order.
 */
export class BoundedProcess {
  #child: ChildProcess | undefined;
  readonly #options: BoundedProcessOptions;

  constructor(options: BoundedProcessOptions) {
    this.#options = options;
  }

  /**
   * Performs an order. Send the next one only after this has settled.
   *
   * @throws errors of the order, and the signal's reason
   * @throws {PastBound} if the order takes too much time or memory
   */
  async perform(order: object, { timeMs, what, signal }: OrderLimits): Promise<unknown> {
    signal?.throwIfAborted();
    this.#child ??= this.#start();
    const child = this.#child;
    const settling = new AbortController();
    let timer: NodeJS.Timeout | undefined;
    child.ref();
    child.channel?.ref();
    try {
      return await new Promise((resolve, reject) => {
        const fail = (error: Error): void => {
          this.end();
          reject(error);
        };
        // After a busy period, timers fire before replies that have arrived already.
        const onTimeUp = (): void => {
          setImmediate(() => (settling.signal.aborted ? undefined : fail(pastTime(what, timeMs))));
        };
        const onReply = (reply: ProcessReply): void => {
          if (reply.state === 'begun') timer = setTimeout(onTimeUp, timeMs + PROCESS_GRACE_MS);
          else if (reply.state === 'done') resolve(reply.result);
          else reject(restoreError(reply.fault, this.#options.errors ?? new Map()));
        };
        const onExit = (code: number | null, signal: NodeJS.Signals | null): void =>
          fail(this.#exitError(what, code, signal));
        child.on('message', onReply).on('error', fail).on('exit', onExit);
        const onAbort = (): void => fail(toError(signal?.reason));
        signal?.addEventListener('abort', onAbort, { signal: settling.signal });
        settling.signal.addEventListener('abort', () =>
          child.off('message', onReply).off('error', fail).off('exit', onExit),
        );
        // The exit event reports why the order could not be sent.
        child.send(order, () => {});
      });
    } catch (error) {
      // An interrupted order may leave the process in any state.
      if (error instanceof PastBound) this.end();
      throw error;
    } finally {
      clearTimeout(timer);
      settling.abort();
      child.unref();
      child.channel?.unref();
    }
  }

  /** Kills the process. */
  end(): void {
    // Ignores the error of an order that could not be sent.
    this.#child?.on('error', () => {}).kill('SIGKILL');
    this.#child = undefined;
  }

  #start(): ChildProcess {
    const { file, memoryMiB } = this.#options;
    // The child gets nothing of the environment, above all no keys.
    const child = forkBuilt(file, { memoryMiB, env: {}, serialization: 'advanced' });
    // Forgets a child that has ended between two orders.
    return child.once('exit', () => {
      if (this.#child === child) this.#child = undefined;
    });
  }

  /** Returns the error for the end of the child. V8 and the system end a process by a signal if memory runs out. */
  #exitError(what: string, code: number | null, signal: NodeJS.Signals | null): Error {
    if (signal !== null || code === ABORTED_ON_WINDOWS) {
      return new PastBound(`${what} takes more than ${this.#options.memoryMiB} MiB of memory`);
    }
    return new Error(`${what} failed: its process ended with exit code ${code}`);
  }
}
