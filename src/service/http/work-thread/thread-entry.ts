import { parentPort } from 'node:worker_threads';
import { describeImage } from '../../../prompts/render/describe-image.ts';
import { getErrorMessage } from '../../../utils/error-utils.ts';
import { ApiError } from '../api-error.ts';
import { parseBodyHere } from '../parse-body.ts';
import type { ThreadJob, ThreadOrder, ThreadReply } from './thread-messages.ts';

// The thread for long work on users' bytes, so that other users don't wait for it.

function performJob(job: ThreadJob): unknown {
  if (job.name === 'parseBody') {
    const { value, digest } = parseBodyHere(job.bytes);
    return { value, digest: digest() };
  }
  const { head, size, mediaType } = job;
  return describeImage(
    { bytes: Buffer.from(head.buffer, head.byteOffset, head.byteLength), mediaType },
    size,
  );
}

function replyTo({ id, job }: ThreadOrder): ThreadReply {
  try {
    return { id, result: performJob(job) };
  } catch (error) {
    if (!(error instanceof ApiError)) return { id, errorMessage: getErrorMessage(error) };
    const { status, message } = error;
    return { id, refusal: { status, message } };
  }
}

parentPort?.on('message', (order: ThreadOrder) => parentPort?.postMessage(replyTo(order), []));
