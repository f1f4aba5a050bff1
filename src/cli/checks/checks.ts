import { BoundedProcess } from '../../processes/bounded-process.ts';
import { CHECK_LIMITS, type CheckName, type CheckTasks, type CheckWork } from './check-tasks.ts';

/**
 * Checks strangers' texts against strangers' rules: an expression, pattern or schema can be made to
 * run forever. They run in processes, one for all expressions and one for everything else, each
 * started with its first task.
 */
export class CheckRunner {
  readonly #expressions = new BoundedProcess({ file: 'check-worker.cjs', memoryMiB: 256 });
  readonly #others = new BoundedProcess({ file: 'check-worker.cjs', memoryMiB: 512 });
  readonly #signal: AbortSignal;
  #last: Promise<unknown> = Promise.resolve();

  /** @param signal aborts the running task and all later ones */
  constructor(signal: AbortSignal) {
    this.#signal = signal;
  }

  /**
   * Runs a task; tasks run one at a time.
   *
   * @throws {LimitExceeded} if it takes more time than its task may, mostly 2 s, or too much memory
   * @throws an Error with the message of whatever the task throws, and the signal's reason if
   * aborted
   */
  perform<N extends CheckName>(
    name: N,
    ...args: Parameters<CheckTasks[N]>
  ): Promise<ReturnType<CheckTasks[N]>> {
    const done = this.#last.then(() => this.#perform({ name, args } as CheckWork));
    this.#last = done.catch(() => {});
    return done as Promise<ReturnType<CheckTasks[N]>>;
  }

  /** Kills the processes. */
  close(): void {
    this.#expressions.end();
    this.#others.end();
  }

  #perform(work: CheckWork): Promise<unknown> {
    const { isExpression, ...limits } = CHECK_LIMITS[work.name];
    const bounded = isExpression ? this.#expressions : this.#others;
    return bounded.perform(work, { ...limits, signal: this.#signal });
  }
}
