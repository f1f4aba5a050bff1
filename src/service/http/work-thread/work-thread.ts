import type { Worker } from 'node:worker_threads';
import { startThread } from '../../../files/installed/start-thread.ts';
import { describeImage, MAX_MEASURED_BYTES } from '../../../prompts/render/describe-image.ts';
import type { LoadedImage } from '../../../prompts/render/loaded-image.ts';
import { TasksClosedError } from '../../../prompts/tasks/task-order.ts';
import { ApiError } from '../api-error.ts';
import { type ParsedBody, parseBodyHere } from '../parse-body.ts';
import type { ThreadJob, ThreadOrder, ThreadReply } from './thread-messages.ts';

/** Maximum size of bytes that the main thread works on itself. */
const MAX_SMALL_BYTES = 64 * 1024;

interface PendingJob {
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: Error) => void;
}

/** Runs long work on users' bytes in a separate thread, which starts with the first job. */
export class WorkThread {
  #worker: Worker | undefined;
  #isClosed = false;
  #lastId = 0;
  readonly #pendingJobs = new Map<number, PendingJob>();

  /** Parses a request body. Rejects with ApiError. */
  readonly parseBody = async (bytes: Buffer): Promise<ParsedBody> => {
    if (bytes.length <= MAX_SMALL_BYTES) return parseBodyHere(bytes);
    const ownBytes = bytes.length === bytes.buffer.byteLength ? bytes : new Uint8Array(bytes);
    const { value, digest } = (await this.#perform(
      { name: 'parseBody', bytes: ownBytes },
      ownBytes.buffer,
    )) as {
      value: unknown;
      digest: string;
    };
    return { value, digest: () => digest };
  };

  /** Describes an image. Only a JPEG may take long to measure. */
  readonly describeImage = async ({ bytes, mediaType }: LoadedImage): Promise<string> => {
    const isSmall = mediaType !== 'image/jpeg' || bytes.length <= MAX_SMALL_BYTES;
    if (isSmall) return describeImage({ bytes, mediaType });
    const head = new Uint8Array(bytes.subarray(0, MAX_MEASURED_BYTES));
    const job = { name: 'describeImage', head, size: bytes.length, mediaType } as const;
    return (await this.#perform(job, head.buffer)) as string;
  };

  /** Abandons unfinished work. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#rejectAll(tasksClosedError());
    await this.#worker?.terminate();
  }

  #perform(job: ThreadJob, buffer: ArrayBufferLike): Promise<unknown> {
    if (this.#isClosed) return Promise.reject(tasksClosedError());

    this.#worker ??= this.#start();
    const worker = this.#worker;
    this.#lastId += 1;
    const order: ThreadOrder = { id: this.#lastId, job };

    return new Promise((resolve, reject) => {
      this.#pendingJobs.set(order.id, { resolve, reject });
      worker.ref();
      worker.postMessage(order, [buffer as ArrayBuffer]);
    });
  }

  #start(): Worker {
    const worker = startThread('work-thread.cjs');
    worker.on('message', (reply: ThreadReply) => this.#settle(worker, reply));
    worker.on('error', error => this.#dropWorker(worker, error));
    worker.on('exit', () =>
      this.#dropWorker(worker, new Error('the thread for large requests ended')),
    );
    return worker;
  }

  #settle(worker: Worker, { id, result, refusal, errorMessage }: ThreadReply): void {
    const pendingJob = this.#pendingJobs.get(id);
    this.#pendingJobs.delete(id);
    if (this.#pendingJobs.size === 0) worker.unref();

    if (refusal) {
      pendingJob?.reject(new ApiError(refusal.status, refusal.message));
    } else if (errorMessage !== undefined) {
      pendingJob?.reject(new Error(errorMessage));
    } else {
      pendingJob?.resolve(result);
    }
  }

  #dropWorker(worker: Worker, error: Error): void {
    if (this.#worker !== worker) return;
    this.#worker = undefined;
    this.#rejectAll(error);
  }

  #rejectAll(error: Error): void {
    for (const { reject } of this.#pendingJobs.values()) reject(error);
    this.#pendingJobs.clear();
  }
}

function tasksClosedError(): TasksClosedError {
  return new TasksClosedError('the service is stopping');
}
