import type { ChildProcess } from 'node:child_process';
import { forkBuilt } from '../files/installed/fork-built.ts';
import { toError } from '../utils/error-utils.ts';
import { LimitExceededError, pastTimeError } from '../utils/limit-exceeded.ts';
import { type ErrorClasses, type ProcessReply, restoreError } from './process-messages.ts';

export interface BoundedProcessOptions {
  /** The build output that the process runs. */
  readonly file: string;
  readonly memoryMiB: number;
  /** The classes of errors that orders may throw in addition to LimitExceededError. */
  readonly errorClasses?: ErrorClasses;
}

export interface OrderLimits {
  /** Maximum time in milliseconds, from the start of the work. */
  readonly timeMs: number;
  /** The subject of messages about limits. */
  readonly subject: string;
  readonly signal?: AbortSignal;
}

/**
 * Extra time for an order to end itself with a better message before its process is killed, in
 * milliseconds.
 */
const PROCESS_GRACE_MS = 2000;

/** The exit code of an aborted process on Windows, which has no signals. */
const WINDOWS_ABORT_CODE = 134;

/**
 * A child process with a memory limit, which performs one order at a time. Exceeding a limit ends
 * only the child; a thread that runs out of memory could end the whole process. Starts with the
 * first order.
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
   * @throws {LimitExceededError} if the order takes too much time or memory
   */
  async perform(order: object, limits: OrderLimits): Promise<unknown> {
    limits.signal?.throwIfAborted();
    this.#child ??= this.#start();
    const reply = await this.#sendOrder(this.#child, order, limits);
    if (reply.state === 'done') return reply.result;

    const error = restoreError(reply.error, this.#options.errorClasses ?? new Map());

    // An interrupted order may leave the process in any state.
    if (error instanceof LimitExceededError) this.end();
    throw error;
  }

  /** Kills the process. */
  end(): void {
    // Ignores the error of an order that could not be sent.
    this.#child?.on('error', () => {}).kill('SIGKILL');
    this.#child = undefined;
  }

  /**
   * Sends an order and returns its reply; kills the process if none comes. Keeps this process alive
   * meanwhile.
   */
  async #sendOrder(child: ChildProcess, order: object, limits: OrderLimits): Promise<FinalReply> {
    let stopWatching = (): void => {};
    child.ref();
    child.channel?.ref();

    try {
      return await new Promise<FinalReply>((resolve, reject) => {
        stopWatching = watchOrder(child, { ...limits, ...this.#options }, resolve, reject);
        // The exit event reports why the order could not be sent.
        child.send(order, () => {});
      });
    } catch (error) {
      this.end();
      throw error;
    } finally {
      stopWatching();
      child.unref();
      child.channel?.unref();
    }
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
}

/** The reply that ends an order. */
type FinalReply = Exclude<ProcessReply, { readonly state: 'begun' }>;

type WatchedLimits = OrderLimits & Pick<BoundedProcessOptions, 'memoryMiB'>;

/**
 * Calls `resolve` with the final reply, or `reject` if the child ends, the time is up or the signal
 * is aborted first.
 *
 * @returns a function that stops watching
 */
function watchOrder(
  child: ChildProcess,
  limits: WatchedLimits,
  resolve: (reply: FinalReply) => void,
  reject: (error: Error) => void,
): () => void {
  const { timeMs, subject, signal } = limits;
  let timer: NodeJS.Timeout | undefined;

  // After a busy period, timers fire before replies that have arrived already.
  const onTimeUp = (): void => void setImmediate(() => reject(pastTimeError(subject, timeMs)));

  const onReply = (reply: ProcessReply): void => {
    if (reply.state === 'begun') {
      timer = setTimeout(onTimeUp, timeMs + PROCESS_GRACE_MS);
    } else {
      resolve(reply);
    }
  };

  const onExit = (code: number | null, killedBy: NodeJS.Signals | null): void =>
    reject(exitError(limits, code, killedBy));
  const onAbort = (): void => reject(toError(signal?.reason));
  child.on('message', onReply).on('error', reject).on('exit', onExit);
  signal?.addEventListener('abort', onAbort);

  return () => {
    clearTimeout(timer);
    child.off('message', onReply).off('error', reject).off('exit', onExit);
    signal?.removeEventListener('abort', onAbort);
  };
}

/**
 * Returns the error for the end of the child. V8 and the system end a process by a signal if memory
 * runs out.
 */
function exitError(
  { subject, memoryMiB }: WatchedLimits,
  code: number | null,
  killedBy: NodeJS.Signals | null,
): Error {
  if (killedBy !== null || code === WINDOWS_ABORT_CODE) {
    return new LimitExceededError(`${subject} takes more than ${memoryMiB} MiB of memory`);
  }
  return new Error(`${subject} failed: its process ended with exit code ${code}`);
}
