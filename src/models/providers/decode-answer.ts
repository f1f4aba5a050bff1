import { decodeContent } from '../../net/content-encoding.ts';
import type { HttpAnswer } from '../outgoing/open-http.ts';
import { BodyTooLongError } from '../outgoing/read-body.ts';
import { ProviderFault } from './answers/provider-fault.ts';

/** Maximum number of bytes by which an encoded answer may exceed its decoded text. */
const MAX_EXCESS_BYTES = 64 * 1024 * 1024;

/**
 * Returns an answer with its body decoded as it arrives. Limits only bytes that decode to nothing:
 * whoever reads the text limits its length, and the results of a batch may have any.
 */
export function decodeAnswer(answer: HttpAnswer, encoding: string): HttpAnswer {
  return { ...answer, body: decodeBody(answer, encoding) };
}

async function* decodeBody(answer: HttpAnswer, encoding: string): AsyncGenerator<Uint8Array> {
  let excessBytes = 0;
  const readSource = async function* (): AsyncGenerator<Uint8Array> {
    for await (const piece of answer.body) {
      excessBytes += piece.length;
      if (excessBytes > MAX_EXCESS_BYTES) {
        answer.discard();
        throw new BodyTooLongError(MAX_EXCESS_BYTES);
      }
      yield piece;
    }
  };

  const createFault = (message: string): Error =>
    new ProviderFault(`sent something that can't be decoded: ${message}`, { mayHaveCost: true });

  for await (const piece of decodeContent(readSource(), encoding, createFault)) {
    excessBytes -= piece.length;
    yield piece;
  }
}
