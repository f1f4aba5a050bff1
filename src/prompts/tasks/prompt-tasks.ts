import { PastBound } from '../../files/bounds/past-bound.ts';
import type { TaskProcesses } from './task-processes.ts';
import {
  FULL_LIMITS,
  perform,
  type Result,
  sizeOf,
  type TaskLimits,
  type TaskName,
  type Work,
} from './tasks.ts';

/** Does what of a prompt may take long. */
export interface PromptTasks {
  /**
   * @throws what the task throws
   * @throws {PastBound} where it takes too much time or memory
   * @throws the signal's reason, and TasksClosed once closed
   */
  do<N extends TaskName>(name: N, work: Work<N>, options?: TaskOptions): Promise<Result<N>>;
  /** Gives up what is not done yet. */
  close(): Promise<void>;
}

export interface TaskOptions {
  /** Whose it is: users take turns where there is a queue. */
  readonly userId?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** In this process, whatever it takes: for commands that nobody else waits for. */
export const tasksHere: PromptTasks = {
  do: (name, work) => perform(name, work, FULL_LIMITS),
  close: () => Promise.resolve(),
};

/** What is done between two requests without anybody noticing; on a busy machine too, so its own time counts. */
const SMALL_LIMITS: TaskLimits = {
  steps: 20_000,
  bytes: 256 * 1024,
  ms: 50,
  checkMs: 50,
  ownTime: () => process.cpuUsage().user / 1000,
};

/** What is worked on in this process, in characters of a value. */
const SMALL_WORK = 32 * 1024;

/** In this process what is done soon, which is nearly everything; the rest, begun again, in processes of its own. */
export class SharedTasks implements PromptTasks {
  #processes: Promise<TaskProcesses> | undefined;

  async do<N extends TaskName>(name: N, work: Work<N>, options: TaskOptions = {}): Promise<Result<N>> {
    if (sizeOf(name, work) <= SMALL_WORK) {
      try {
        return await perform(name, work, SMALL_LIMITS);
      } catch (error) {
        if (!(error instanceof PastBound)) throw error;
      }
    }
    this.#processes ??= import('./task-processes.ts').then(({ TaskProcesses }) => new TaskProcesses());
    const processes = await this.#processes;
    return (await processes.perform({ name, work }, options)) as Result<N>;
  }

  async close(): Promise<void> {
    await (await this.#processes)?.close();
  }
}

/** Gives `use` tasks that end with it. */
export async function withTasks<T>(use: (tasks: PromptTasks) => Promise<T>): Promise<T> {
  const tasks = new SharedTasks();
  try {
    return await use(tasks);
  } finally {
    await tasks.close();
  }
}
