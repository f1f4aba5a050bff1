import { BoundedProcess } from '../../processes/bounded-process.ts';
import { CHECK_LIMITS, type CheckName, type CheckTasks, type CheckWork } from './check-tasks.ts';

/**
 * Runs untrusted checks, such as expressions, patterns and schemas, which may never end, in
 * processes with limits: one for all expressions, one for all others. Each starts with its first
 * task.
 */
export class CheckRunner {
  readonly #expressionProcess = new BoundedProcess({ file: 'check-worker.cjs', memoryMiB: 256 });
  readonly #generalProcess = new BoundedProcess({ file: 'check-worker.cjs', memoryMiB: 512 });
  readonly #signal: AbortSignal;
  #lastTask: Promise<unknown> = Promise.resolve();

  /** @param signal aborts the running task and all later ones */
  constructor(signal: AbortSignal) {
    this.#signal = signal;
  }

  /**
   * Runs a task; tasks run one at a time.
   *
   * @throws {LimitExceededError} if it takes more time than `CHECK_LIMITS` allows, or too much memory
   * @throws an Error with the message of whatever the task throws, and the signal's reason if
   * aborted
   */
  perform<N extends CheckName>(
    name: N,
    ...args: Parameters<CheckTasks[N]>
  ): Promise<ReturnType<CheckTasks[N]>> {
    const result = this.#lastTask.then(() => this.#performNow({ name, args } as CheckWork));
    this.#lastTask = result.catch(() => {});
    return result as Promise<ReturnType<CheckTasks[N]>>;
  }

  /** Kills the processes. */
  close(): void {
    this.#expressionProcess.end();
    this.#generalProcess.end();
  }

  #performNow(work: CheckWork): Promise<unknown> {
    const { isExpression, ...limits } = CHECK_LIMITS[work.name];
    const boundedProcess = isExpression ? this.#expressionProcess : this.#generalProcess;
    return boundedProcess.perform(work, { ...limits, signal: this.#signal });
  }
}
