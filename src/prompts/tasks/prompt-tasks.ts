import { LimitExceededError } from '../../utils/limit-exceeded.ts';
import { CompiledTemplates } from '../template/compiled-templates.ts';
import {
  FULL_LIMITS,
  measureTask,
  performTask,
  type TaskInput,
  type TaskLimits,
  type TaskName,
  type TaskResult,
} from './perform-task.ts';
import type { TaskProcesses, TaskProcessOptions } from './task-processes.ts';

/** Runs the tasks on prompts that may take long. */
export interface PromptTasks {
  /**
   * Runs a task.
   *
   * @throws whatever the task throws
   * @throws {LimitExceededError} if it takes too much time or memory
   * @throws {TasksClosedError} after `close`, and the signal's reason
   */
  run<N extends TaskName>(
    name: N,
    work: TaskInput<N>,
    options?: TaskOptions,
  ): Promise<TaskResult<N>>;
  /** Abandons the tasks that are not done. */
  close(): Promise<void>;
}

export interface TaskOptions {
  /** The user whose task it is: users take turns if tasks have to queue. */
  readonly userId?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Runs every task in this process, for commands, which serve only their own user. */
export const inProcessTasks: PromptTasks = {
  run: (name, work) => performTask(name, work, FULL_LIMITS),
  close: () => Promise.resolve(),
};

/**
 * Limits of a task that delays other requests unnoticeably. Own time counts, so they hold on a busy
 * machine too.
 */
const SMALL_LIMITS: TaskLimits = {
  maxSteps: 20_000,
  maxBytes: 256 * 1024,
  maxMs: 50,
  checkMs: 50,
  getOwnTimeMs,
  // Only commands convert, and a separate process takes longer to start than most conversions.
  conversion: { maxFileBytes: 256 * 1024, maxOwnTimeMs: 500, getOwnTimeMs },
};

function getOwnTimeMs(): number {
  return process.cpuUsage().user / 1000;
}

/** Maximum size of a task in this process, in characters of a value. */
const MAX_SMALL_TASK_SIZE = 32 * 1024;

/**
 * Runs short tasks, which nearly all are, in this process, and starts the others over in separate
 * processes.
 */
export class SharedTasks implements PromptTasks {
  #processes: Promise<TaskProcesses> | undefined;
  readonly #templates = new CompiledTemplates();
  readonly #options: TaskProcessOptions;

  constructor(options: TaskProcessOptions = {}) {
    this.#options = options;
  }

  async run<N extends TaskName>(
    name: N,
    work: TaskInput<N>,
    options: TaskOptions = {},
  ): Promise<TaskResult<N>> {
    if (measureTask(name, work) <= MAX_SMALL_TASK_SIZE) {
      try {
        return await performTask(name, work, { ...SMALL_LIMITS, templates: this.#templates });
      } catch (error) {
        if (!(error instanceof LimitExceededError)) throw error;
      }
    }

    this.#processes ??= import('./task-processes.ts').then(
      ({ TaskProcesses }) => new TaskProcesses(this.#options),
    );
    const processes = await this.#processes;
    return (await processes.perform({ name, work }, options)) as TaskResult<N>;
  }

  async close(): Promise<void> {
    await (await this.#processes)?.close();
  }
}
