import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { toError } from '../../utils/error-utils.ts';
import { MAX_BODY_BYTES } from '../../wire/index.ts';
import type { RequestMemory } from '../core/request-memory.ts';
import { badRequest, tooLarge } from './api-error.ts';

/**
 * Reads the body. Leaves a body that is too large to Node, which discards it, so that the answer
 * reaches the caller.
 */
export function readRequestBody(request: IncomingMessage, memory: RequestMemory): Promise<Buffer> {
  if (Number(request.headers['content-length'] ?? 0) > MAX_BODY_BYTES) {
    return Promise.reject(tooLarge());
  }
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let length = 0;
    const onChunk = (chunk: Buffer): void => {
      try {
        length += chunk.length;
        if (length > MAX_BODY_BYTES) throw tooLarge();
        memory.reserve(chunk.length);
        chunks.push(chunk);
      } catch (error) {
        chunks.length = 0;
        memory.release();
        request.off('data', onChunk).resume();
        reject(toError(error));
      }
    };

    request.on('data', onChunk);
    request.on('end', () =>
      resolve(chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks)),
    );
    request.on('error', () => reject(badRequest('the request was cut short')));
  });
}

/**
 * Discards the rest of a request: closing the connection while the caller still sends would lose
 * the answer.
 */
export async function discardRest(request: IncomingMessage): Promise<void> {
  if (request.complete || request.closed) return;
  request.resume();
  await once(request, 'close').catch(() => {});
}
