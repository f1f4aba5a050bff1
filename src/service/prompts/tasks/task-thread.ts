import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import { codeOf, toError } from '../../error-utils.ts';
import { BOUNDS, PastBound } from '../bounds.ts';
import { errorOf, type Reply, type TaskOrder } from './messages.ts';
import type { TaskName } from './tasks.ts';

const FILE = 'prompt-worker.cjs';
/** Beside the built command, above its chunks, or where the build puts it. */
const PLACES = [`./${FILE}`, `../${FILE}`, `../../../../dist/${FILE}`];

/** What a task may take in all, in milliseconds, and what is said of one that takes longer. */
const TIMES: { readonly [N in TaskName]: readonly [ms: number, what: string] } = {
  readTexts: [BOUNDS.checkMs, 'checking the inputs'],
  render: [BOUNDS.renderMs, 'rendering the prompt'],
  checkOutput: [BOUNDS.checkMs, 'checking a value against its schema'],
  trySchemas: [BOUNDS.checkMs, 'checking values against their schemas'],
  parse: [BOUNDS.parseMs, 'reading the prompt file'],
};

/** A task ends itself at its bound, and knows best what it was at; this much later it is ended, in milliseconds. */
const GRACE_MS = 500;

/** A thread with limits on memory and on the time of a task. What goes past them ends it. */
export class TaskThread {
  readonly #worker: Worker;
  #onReply: (reply: Reply) => void = () => {};
  #onEnd: (error: Error) => void = () => {};
  #isAlive = true;

  constructor() {
    this.#worker = new Worker(workerFile(), {
      resourceLimits: { maxOldGenerationSizeMb: BOUNDS.threadMiB },
      // Nothing of the process is its business.
      env: {},
      execArgv: [],
    });
    this.#worker.on('message', (reply: Reply) => this.#onReply(reply));
    this.#worker.on('error', error => this.#end(pastMemory(error)));
    this.#worker.on('exit', () => this.#end(new Error('the thread for prompts ended')));
    this.#worker.unref();
  }

  get isAlive(): boolean {
    return this.#isAlive;
  }

  /** One at a time. Throws what the task throws, PastBound, and the signal's reason. */
  perform(order: TaskOrder, signal: AbortSignal): Promise<unknown> {
    return new Promise((resolve, reject) => {
      signal.throwIfAborted();
      let timer: NodeJS.Timeout | undefined;
      const stop = (): void => this.#end(toError(signal.reason));
      const settled = (): void => {
        clearTimeout(timer);
        signal.removeEventListener('abort', stop);
        this.#onReply = () => {};
        this.#onEnd = () => {};
        this.#worker.unref();
      };
      this.#onEnd = error => {
        settled();
        reject(error);
      };
      this.#onReply = reply => {
        if (reply.state === 'begun') {
          timer = setTimeout(() => this.#end(pastTime(order.name)), TIMES[order.name][0] + GRACE_MS);
          return;
        }
        settled();
        if (reply.state === 'done') resolve(reply.result);
        else reject(errorOf(reply.fault));
      };
      signal.addEventListener('abort', stop, { once: true });
      this.#worker.ref();
      // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread is not a window
      this.#worker.postMessage(order);
    });
  }

  async end(): Promise<void> {
    this.#isAlive = false;
    await this.#worker.terminate();
  }

  #end(error: Error): void {
    this.#onEnd(error);
    void this.end();
  }
}

function workerFile(): string {
  const file = PLACES.map(place => fileURLToPath(new URL(place, import.meta.url))).find(existsSync);
  if (file === undefined) {
    throw new Error(`${FILE} is missing from the installation: install promptrun again`);
  }
  return file;
}

function pastTime(name: TaskName): PastBound {
  const [ms, what] = TIMES[name];
  return new PastBound(`${what} takes longer than ${ms / 1000} s`);
}

function pastMemory(error: Error): Error {
  if (codeOf(error) !== 'ERR_WORKER_OUT_OF_MEMORY') return error;
  return new PastBound(`the prompt takes more than ${BOUNDS.threadMiB} MiB of memory`);
}
