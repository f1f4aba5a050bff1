import { availableParallelism } from 'node:os';
import PQueue from 'p-queue';
import { BoundedProcess } from '../../processes/bounded-process.ts';
import { BOUNDS } from '../bounds.ts';
import type { TaskName } from './perform-task.ts';
import { TASK_ERRORS, type TaskOrder, TasksClosedError } from './task-order.ts';

/**
 * Multiple of the usual memory for parsing a file: YAML takes more than a hundred times its size.
 */
const PARSING_MEMORY_FACTOR = 2;

interface TaskProcessLimits {
  /** The beginning of the message of a LimitExceededError. */
  readonly subject: string;
  readonly timeMs: number;
  /** Multiple of the usual memory; default 1. */
  readonly memoryFactor?: number;
}

const TASK_LIMITS: { readonly [N in TaskName]: TaskProcessLimits } = {
  readTexts: { subject: 'checking the inputs', timeMs: BOUNDS.checkMs },
  render: { subject: 'rendering the prompt', timeMs: BOUNDS.compileMs + BOUNDS.renderMs },
  checkOutput: { subject: 'checking a value against its schema', timeMs: BOUNDS.checkMs },
  select: { subject: 'reading the answer', timeMs: 2000 },
  trySchemas: { subject: 'checking values against their schemas', timeMs: BOUNDS.checkMs },
  parse: {
    subject: 'reading the prompt file',
    timeMs: BOUNDS.parseMs,
    memoryFactor: PARSING_MEMORY_FACTOR,
  },
  readYaml: {
    subject: 'reading the YAML',
    timeMs: BOUNDS.parseMs,
    memoryFactor: PARSING_MEMORY_FACTOR,
  },
  convert: {
    subject: 'converting the file',
    timeMs: BOUNDS.parseMs,
    memoryFactor: PARSING_MEMORY_FACTOR,
  },
  convertPrompts: {
    subject: 'converting the file',
    timeMs: BOUNDS.parseMs,
    memoryFactor: PARSING_MEMORY_FACTOR,
  },
  foreignTests: {
    subject: 'reading the tests',
    timeMs: BOUNDS.parseMs,
    memoryFactor: PARSING_MEMORY_FACTOR,
  },
};

export interface TaskProcessOptions {
  readonly memoryMiB?: number;
  /** True if all tasks are one user's, so that a process may run several; default false. */
  readonly isForOneUser?: boolean;
}

/**
 * Runs tasks in a few processes. A process never runs tasks of two users, so that none can see
 * leftovers of another's.
 */
export class TaskProcesses {
  readonly #closing = new AbortController();
  readonly #queue = new PQueue({
    concurrency: Math.max(1, Math.min(4, availableParallelism() - 1)),
  });
  /** The number of tasks of each user that are not done. */
  readonly #taskCounts = new Map<number | undefined, number>();
  readonly #memoryMiB: number;
  readonly #isForOneUser: boolean;
  /** The processes that wait for a task, by their memory in MiB. */
  readonly #idleProcesses = new Map<number, BoundedProcess[]>();

  constructor({ memoryMiB = BOUNDS.processMiB, isForOneUser = false }: TaskProcessOptions = {}) {
    this.#memoryMiB = memoryMiB;
    this.#isForOneUser = isForOneUser;
  }

  /**
   * Waits for the user's turn and runs a task.
   *
   * @throws whatever the task throws
   * @throws {LimitExceededError} if it takes too much time or memory
   * @throws {TasksClosedError} after `close`, and the signal's reason
   */
  async perform(
    order: TaskOrder,
    { userId, signal }: { userId?: number | undefined; signal?: AbortSignal | undefined } = {},
  ): Promise<unknown> {
    const stopSignal = AbortSignal.any([this.#closing.signal, ...(signal ? [signal] : [])]);
    const taskCount = this.#taskCounts.get(userId) ?? 0;
    this.#taskCounts.set(userId, taskCount + 1);

    try {
      const performOrder = (): Promise<unknown> => this.#performInProcess(order, stopSignal);
      // A user's further tasks come after the first task of every other user.
      return await this.#queue.add(performOrder, { priority: -taskCount, signal: stopSignal });
    } finally {
      const remainingCount = (this.#taskCounts.get(userId) ?? 1) - 1;
      if (remainingCount > 0) {
        this.#taskCounts.set(userId, remainingCount);
      } else {
        this.#taskCounts.delete(userId);
      }
    }
  }

  async close(): Promise<void> {
    this.#closing.abort(new TasksClosedError('the service is stopping'));
    await this.#queue.onIdle();
    for (const idle of [...this.#idleProcesses.values()].flat()) idle.end();
    this.#idleProcesses.clear();
  }

  async #performInProcess(order: TaskOrder, signal: AbortSignal): Promise<unknown> {
    const { subject, timeMs, memoryFactor = 1 } = TASK_LIMITS[order.name];
    const memoryMiB = memoryFactor * this.#memoryMiB;
    const idleProcesses = this.#idleProcesses.get(memoryMiB) ?? [];
    this.#idleProcesses.set(memoryMiB, idleProcesses);
    const taskProcess =
      idleProcesses.pop() ??
      new BoundedProcess({ file: 'prompt-worker.cjs', memoryMiB, errorClasses: TASK_ERRORS });

    let canReuse = false;
    try {
      const result = await taskProcess.perform(order, { timeMs, subject, signal });
      canReuse = this.#isForOneUser;
      return result;
    } finally {
      if (canReuse) {
        idleProcesses.push(taskProcess);
      } else {
        taskProcess.end();
      }
    }
  }
}
