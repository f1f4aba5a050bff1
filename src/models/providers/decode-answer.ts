import { decodeContent } from '../../net/content-encoding.ts';
import type { HttpAnswer } from '../outgoing/open-http.ts';
import { BodyTooLong } from '../outgoing/read-body.ts';
import { ProviderFault } from './answers/provider-fault.ts';

/** Maximum number of bytes that the encoding may add to the text, which its reader limits. */
const MAX_ADDED_BYTES = 64 * 1024 * 1024;

/**
 * Returns an answer with its body decoded as it arrives. Results of a batch may have any length, so
 * that only what decodes to nothing is limited here.
 */
export function decodeAnswer(answer: HttpAnswer, encoding: string): HttpAnswer {
  return { ...answer, body: decodeBody(answer, encoding) };
}

async function* decodeBody(answer: HttpAnswer, encoding: string): AsyncGenerator<Uint8Array> {
  let addedBytes = 0;
  const readSource = async function* (): AsyncGenerator<Uint8Array> {
    for await (const piece of answer.body) {
      addedBytes += piece.length;
      if (addedBytes > MAX_ADDED_BYTES) {
        answer.discard();
        throw new BodyTooLong(MAX_ADDED_BYTES);
      }
      yield piece;
    }
  };

  const fault = (message: string): Error =>
    new ProviderFault(`sent something that can't be decoded: ${message}`, { mayHaveCost: true });

  for await (const piece of decodeContent(readSource(), encoding, fault)) {
    addedBytes -= piece.length;
    yield piece;
  }
}
