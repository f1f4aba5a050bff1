import { Worker } from 'node:worker_threads';
import { builtFile } from '../../../files/installed-file.ts';
import type { CheckName, CheckReply, CheckTasks, CheckWork } from './tasks.ts';

/** What one check may take, in milliseconds. */
const LONGEST_MS = 2000;
const MOST_MEMORY_MIB = 512;

/** A check that was ended at its bound; the message says at which, and continues a sentence. */
export class PastBound extends Error {
  override readonly name = 'PastBound';
}

/**
 * Checks of what a stranger wrote against what a stranger wrote: a pattern or a schema can be made to take for ever. A
 * thread does them, which is ended at a bound on time and memory, and at Ctrl-C; it starts with the first.
 */
export class Checks {
  #worker: Worker | undefined;
  #last: Promise<unknown> = Promise.resolve();

  /**
   * Does a task; one at a time.
   *
   * @throws {PastBound} where it takes more than 2 s or 512 MiB
   * @throws an Error with the message of whatever the task throws
   */
  perform<N extends CheckName>(
    name: N,
    ...args: Parameters<CheckTasks[N]>
  ): Promise<Awaited<ReturnType<CheckTasks[N]>>> {
    const done = this.#last.then(() => this.#perform({ name, args } as CheckWork));
    this.#last = done.catch(() => {});
    return done as Promise<Awaited<ReturnType<CheckTasks[N]>>>;
  }

  /** Ends the thread, with whatever it is at. */
  async close(): Promise<void> {
    await this.#worker?.terminate();
  }

  #perform(work: CheckWork): Promise<unknown> {
    this.#worker ??= startWorker();
    const worker = this.#worker;
    return new Promise((resolve, reject) => {
      let timer: NodeJS.Timeout | undefined;
      let isSettled = false;
      const settled = (settle: () => void): void => {
        isSettled = true;
        clearTimeout(timer);
        worker.off('message', onReply).off('error', onError).off('exit', onExit).unref();
        settle();
      };
      const ended = (error: Error): void => {
        this.#worker = undefined;
        settled(() => reject(error));
        void worker.terminate();
      };
      // A process that was busy meanwhile sees its timers before an answer that is there already.
      const onTimeUp = (): void => {
        setImmediate(() => (isSettled ? undefined : ended(pastTime())));
      };
      const onError = (error: Error): void => ended(faultOf(error));
      const onExit = (): void => ended(new Error('the checks were ended'));
      const onReply = (reply: CheckReply): void => {
        if (reply === 'begun') timer = setTimeout(onTimeUp, LONGEST_MS);
        else settled(() => ('fault' in reply ? reject(new Error(reply.fault)) : resolve(reply.result)));
      };
      worker.on('message', onReply).on('error', onError).on('exit', onExit).ref();
      // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, not a window
      worker.postMessage(work);
    });
  }
}

function pastTime(): PastBound {
  return new PastBound(`takes longer than ${LONGEST_MS / 1000} s`);
}

function faultOf(error: Error & { readonly code?: string }): Error {
  return error.code === 'ERR_WORKER_OUT_OF_MEMORY'
    ? new PastBound(`takes more than ${MOST_MEMORY_MIB} MiB of memory`)
    : error;
}

function startWorker(): Worker {
  // Nothing of this process is its business, keys least of all.
  return new Worker(builtFile('check-worker.cjs'), {
    env: {},
    execArgv: [],
    resourceLimits: { maxOldGenerationSizeMb: MOST_MEMORY_MIB },
  });
}
