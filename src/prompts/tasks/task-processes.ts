import { fork } from 'node:child_process';
import { availableParallelism } from 'node:os';
import PQueue from 'p-queue';
import { toError } from '../../files/error-utils.ts';
import { builtFile } from '../../files/installed-file.ts';
import { BOUNDS, PastBound } from '../bounds.ts';
import { errorOf, type Reply, type TaskOrder, TasksClosed } from './messages.ts';
import type { TaskName } from './tasks.ts';

/** What a task may take in all, in milliseconds, and what is said of one that takes longer. */
const TIMES: { readonly [N in TaskName]: readonly [ms: number, what: string] } = {
  readTexts: [BOUNDS.checkMs, 'checking the inputs'],
  render: [BOUNDS.compileMs + BOUNDS.renderMs, 'rendering the prompt'],
  checkOutput: [BOUNDS.checkMs, 'checking a value against its schema'],
  trySchemas: [BOUNDS.checkMs, 'checking values against their schemas'],
  parse: [BOUNDS.parseMs, 'reading the prompt file'],
};

/** A task ends itself at its bound, and knows best what it was at; this much later it is ended, in milliseconds. */
const GRACE_MS = 2000;

/** Windows has no signals to tell of. */
const ABORTED_ON_WINDOWS = 134;

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

/**
 * A process has limits on memory and on the time of its task. What goes past them ends it and nothing else, where a
 * thread that runs out of memory can take the whole service with it.
 */
async function performInProcess(order: TaskOrder, memoryMiB: number, signal: AbortSignal): Promise<unknown> {
  signal.throwIfAborted();
  const child = fork(builtFile('prompt-worker.cjs'), {
    execArgv: [`--max-old-space-size=${memoryMiB}`],
    // Nothing of this process is its business, keys least of all.
    env: {},
    serialization: 'advanced',
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
  });
  let timer: NodeJS.Timeout | undefined;
  const stopped = new AbortController();
  try {
    return await new Promise((resolve, reject) => {
      signal.addEventListener('abort', () => reject(toError(signal.reason)), { signal: stopped.signal });
      child.on('message', (reply: Reply) => {
        if (reply.state === 'done') resolve(reply.result);
        else if (reply.state === 'failed') reject(errorOf(reply.fault));
        else timer = setTimeout(() => reject(pastTime(order.name)), TIMES[order.name][0] + GRACE_MS);
      });
      child.on('error', reject);
      child.on('exit', (code, signal) => reject(deathOf(code, signal, memoryMiB)));
      // How it ends says why it could not be told.
      child.send(order, () => {});
    });
  } finally {
    clearTimeout(timer);
    stopped.abort();
    child.kill('SIGKILL');
  }
}

function pastTime(name: TaskName): PastBound {
  const [ms, what] = TIMES[name];
  return new PastBound(`${what} takes longer than ${ms / 1000} s`);
}

/** V8 ends a process that is out of memory by a signal, and so does a system that is. */
function deathOf(code: number | null, signal: NodeJS.Signals | null, memoryMiB: number): Error {
  if (signal !== null || code === ABORTED_ON_WINDOWS) {
    return new PastBound(`the prompt takes more than ${memoryMiB} MiB of memory`);
  }
  return new Error(`the process for prompts ended (exit code ${code})`);
}
