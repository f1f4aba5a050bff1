import { type ChildProcess, fork } from 'node:child_process';
import { toError } from '../../../files/error-utils.ts';
import { builtFile } from '../../../files/installed-file.ts';
import { BOUNDS, PastBound } from '../bounds.ts';
import { errorOf, type Reply, type TaskOrder } from './messages.ts';
import type { TaskName } from './tasks.ts';

const FILE = 'prompt-worker.cjs';

/** What a task may take in all, in milliseconds, and what is said of one that takes longer. */
const TIMES: { readonly [N in TaskName]: readonly [ms: number, what: string] } = {
  readTexts: [BOUNDS.checkMs, 'checking the inputs'],
  render: [BOUNDS.compileMs + BOUNDS.renderMs, 'rendering the prompt'],
  checkOutput: [BOUNDS.checkMs, 'checking a value against its schema'],
  trySchemas: [BOUNDS.checkMs, 'checking values against their schemas'],
  parse: [BOUNDS.parseMs, 'reading the prompt file'],
};

/** A task ends itself at its bound, and knows best what it was at; this much later it is ended, in milliseconds. */
const GRACE_MS = 500;

/** Windows has no signals to tell of. */
const ABORTED_ON_WINDOWS = 134;

/**
 * A process with limits on memory and on the time of a task. What goes past them ends it and nothing else, where a
 * thread that runs out of memory can take the whole service with it.
 */
export class TaskProcess {
  readonly #child: ChildProcess;
  readonly #memoryMiB: number;
  #onReply: (reply: Reply) => void = () => {};
  #onEnd: (error: Error) => void = () => {};
  #isAlive = true;

  constructor(memoryMiB: number) {
    this.#memoryMiB = memoryMiB;
    this.#child = fork(builtFile(FILE), {
      execArgv: [`--max-old-space-size=${memoryMiB}`],
      // Nothing of this process is its business, keys least of all.
      env: {},
      serialization: 'advanced',
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    });
    this.#child.on('message', (reply: Reply) => this.#onReply(reply));
    this.#child.on('error', error => this.#end(error));
    this.#child.on('exit', (code, signal) => this.#end(this.#faultOf(code, signal)));
    this.#unref();
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
        this.#unref();
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
      this.#child.ref();
      this.#channel?.ref?.();
      this.#child.send(order, error => {
        // How it ends says why it could not be told.
        if (error && this.#child.connected) this.#child.disconnect();
      });
    });
  }

  async end(): Promise<void> {
    if (!this.#isAlive) return;
    this.#isAlive = false;
    const exited = new Promise<void>(resolve => {
      this.#child.once('close', () => resolve());
    });
    this.#child.ref();
    if (this.#child.kill('SIGKILL')) await exited;
  }

  /** Nothing of this process is kept alive for it while it has nothing to do. */
  #unref(): void {
    this.#child.unref();
    this.#channel?.unref?.();
  }

  /** Bun's has neither `ref` nor `unref`. */
  get #channel(): Partial<NonNullable<ChildProcess['channel']>> | null | undefined {
    return this.#child.channel;
  }

  #end(error: Error): void {
    this.#onEnd(error);
    void this.end();
  }

  /** V8 ends a process that is out of memory by a signal, and so does a system that is. */
  #faultOf(code: number | null, signal: NodeJS.Signals | null): Error {
    if (signal !== null || code === ABORTED_ON_WINDOWS) {
      return new PastBound(`the prompt takes more than ${this.#memoryMiB} MiB of memory`);
    }
    return new Error(`the process for prompts ended (exit code ${code})`);
  }
}

function pastTime(name: TaskName): PastBound {
  const [ms, what] = TIMES[name];
  return new PastBound(`${what} takes longer than ${ms / 1000} s`);
}
