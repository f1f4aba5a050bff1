import { availableParallelism } from 'node:os';
import PQueue from 'p-queue';
import { BoundedProcess } from '../../files/bounds/bounded-process.ts';
import { BOUNDS } from '../bounds.ts';
import { TASK_ERRORS, type TaskOrder, TasksClosed } from './messages.ts';
import type { TaskName } from './tasks.ts';

/** What a task may take in all, in milliseconds, and what is said of one that takes longer. */
const TIMES: { readonly [N in TaskName]: readonly [ms: number, what: string] } = {
  readTexts: [BOUNDS.checkMs, 'checking the inputs'],
  render: [BOUNDS.compileMs + BOUNDS.renderMs, 'rendering the prompt'],
  checkOutput: [BOUNDS.checkMs, 'checking a value against its schema'],
  select: [2000, 'reading the answer'],
  trySchemas: [BOUNDS.checkMs, 'checking values against their schemas'],
  parse: [BOUNDS.parseMs, 'reading the prompt file'],
};

/** Does tasks of prompts in a few processes, each begun for its task. */
export class TaskProcesses {
  readonly #closing = new AbortController();
  readonly #queue = new PQueue({ concurrency: Math.max(1, Math.min(4, availableParallelism() - 1)) });
  readonly #tasks = new Map<number | undefined, number>();
  readonly #memoryMiB: number;

  constructor({ memoryMiB = BOUNDS.processMiB }: { memoryMiB?: number } = {}) {
    this.#memoryMiB = memoryMiB;
  }

  /** Waits for a turn of the user's and does a task. Throws what PromptTasks says. */
  async perform(
    order: TaskOrder,
    { userId, signal }: { userId?: number | undefined; signal?: AbortSignal | undefined } = {},
  ): Promise<unknown> {
    const stop = AbortSignal.any([this.#closing.signal, ...(signal ? [signal] : [])]);
    const others = this.#tasks.get(userId) ?? 0;
    this.#tasks.set(userId, others + 1);
    try {
      const inProcess = (): Promise<unknown> => performInProcess(order, this.#memoryMiB, stop);
      // What a user has waiting comes after the first of everybody else.
      return await this.#queue.add(inProcess, { priority: -others, signal: stop });
    } finally {
      const left = (this.#tasks.get(userId) ?? 1) - 1;
      if (left > 0) this.#tasks.set(userId, left);
      else this.#tasks.delete(userId);
    }
  }

  async close(): Promise<void> {
    this.#closing.abort(new TasksClosed('the service is stopping'));
    await this.#queue.onIdle();
  }
}

/** In a process of its own, so that no user's task finds what another's has left. */
async function performInProcess(order: TaskOrder, memoryMiB: number, signal: AbortSignal): Promise<unknown> {
  const [timeMs, what] = TIMES[order.name];
  const own = new BoundedProcess({ file: 'prompt-worker.cjs', memoryMiB, errors: TASK_ERRORS });
  try {
    return await own.perform(order, { timeMs, what, signal });
  } finally {
    own.end();
  }
}
