import { availableParallelism } from 'node:os';
import { toError } from '../../../files/error-utils.ts';
import { BOUNDS } from '../bounds.ts';
import { type TaskOrder, TasksClosed } from './messages.ts';
import { TaskProcess } from './task-process.ts';

/** A process with nothing to do is kept this long, in milliseconds. */
const IDLE_MS = 10_000;

/** A few processes for tasks of prompts: started when first needed, ended when idle. */
export class TaskProcesses {
  readonly #closing = new AbortController();
  readonly #turns = new Turns(Math.max(1, Math.min(4, availableParallelism() - 1)));
  readonly #idle = new Map<TaskProcess, NodeJS.Timeout>();
  readonly #memoryMiB: number;

  constructor({ memoryMiB = BOUNDS.processMiB }: { memoryMiB?: number } = {}) {
    this.#memoryMiB = memoryMiB;
  }

  /** Waits for a turn of the user's and does a task. Throws what PromptTasks says. */
  async perform(order: TaskOrder, userId: number | undefined, signal?: AbortSignal): Promise<unknown> {
    const stop = AbortSignal.any([this.#closing.signal, ...(signal ? [signal] : [])]);
    await this.#turns.take(userId, stop);
    try {
      const child = this.#takeIdle() ?? new TaskProcess(this.#memoryMiB);
      return await child.perform(order, stop).finally(() => this.#keepIdle(child));
    } finally {
      this.#turns.end();
    }
  }

  async close(): Promise<void> {
    this.#closing.abort(new TasksClosed('the service is stopping'));
    for (let child = this.#takeIdle(); child; child = this.#takeIdle()) await child.end();
  }

  #takeIdle(): TaskProcess | undefined {
    for (const [child, timer] of this.#idle) {
      this.#idle.delete(child);
      clearTimeout(timer);
      if (child.isAlive) return child;
    }
    return undefined;
  }

  #keepIdle(child: TaskProcess): void {
    if (!child.isAlive) return;
    if (this.#closing.signal.aborted) return void child.end();
    const timer = setTimeout(() => {
      this.#idle.delete(child);
      void child.end();
    }, IDLE_MS);
    this.#idle.set(child, timer.unref());
  }
}

type Begin = () => void;

/** So many at a time; users who wait take turns, so that what one has waiting does not keep another. */
class Turns {
  #free: number;
  readonly #waiting = new Map<number | undefined, readonly Begin[]>();

  constructor(most: number) {
    this.#free = most;
  }

  async take(userId: number | undefined, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    if (this.#free > 0) {
      this.#free -= 1;
      return;
    }
    await new Promise<void>((resolve, reject) => {
      const begin = (): void => {
        signal.removeEventListener('abort', giveUp);
        resolve();
      };
      const giveUp = (): void => {
        this.#remove(userId, begin);
        reject(toError(signal.reason));
      };
      signal.addEventListener('abort', giveUp, { once: true });
      this.#waiting.set(userId, [...(this.#waiting.get(userId) ?? []), begin]);
    });
  }

  /** The turn goes to the user who has waited longest since the last one. */
  end(): void {
    const [[userId, [begin]] = [undefined, []]] = this.#waiting;
    if (!begin) {
      this.#free += 1;
      return;
    }
    const rest = this.#remove(userId, begin);
    this.#waiting.delete(userId);
    if (rest.length > 0) this.#waiting.set(userId, rest);
    begin();
  }

  #remove(userId: number | undefined, begin: Begin): readonly Begin[] {
    const rest = (this.#waiting.get(userId) ?? []).filter(other => other !== begin);
    if (rest.length > 0) this.#waiting.set(userId, rest);
    else this.#waiting.delete(userId);
    return rest;
  }
}
