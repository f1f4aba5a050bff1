import { detectImageType } from '../../../files/formats/image-type.ts';
import type { Env } from '../../../utils/env.ts';
import { getErrorMessage } from '../../../utils/error-utils.ts';
import { isSameOrigin } from '../../../wire/addresses.ts';
import { MAX_IMAGE_BYTES } from '../../../wire/index.ts';
import type { EngineJob, EngineOutput } from '../../engine.ts';
import { fetchImage } from '../../outgoing/fetch-image.ts';
import { openHttp } from '../../outgoing/open-http.ts';
import { findOutgoingProxy } from '../../outgoing/proxy.ts';
import { readBody } from '../../outgoing/read-body.ts';
import type { ProviderAccess } from '../provider-access.ts';
import { ProviderFault } from './provider-fault.ts';

/** An image in an answer: its bytes or its URL. */
export interface AnswerImage {
  readonly bytes?: Buffer;
  readonly base64?: string | undefined;
  /** An https or `data:` URL, or any of the provider's own origin. */
  readonly url?: string | undefined;
}

const MAX_ANSWER_IMAGES = 64;

/** Maximum size of all images of an answer together, in bytes. */
const MAX_TOTAL_IMAGE_BYTES = 256 * 1024 * 1024;

const COST_WARNING = 'it may have been paid for';

/**
 * Fetches the images of an answer one after another. An image that can't be fetched, or is not
 * one, becomes an error item.
 *
 * @throws {ProviderFault} if there are more of them, or larger ones, than a run may hold
 */
export async function fetchAnswerImages(
  images: readonly AnswerImage[],
  { signal }: Pick<EngineJob, 'signal'>,
  access: ProviderAccess,
): Promise<EngineOutput[]> {
  if (images.length > MAX_ANSWER_IMAGES) {
    throw createLimitFault(`${images.length} pictures: a run holds at most ${MAX_ANSWER_IMAGES}`);
  }

  const outputs: EngineOutput[] = [];
  let totalBytes = 0;
  for (const image of images) {
    const output = await fetchImageOutput(image, signal, access);
    totalBytes += output.type === 'image' ? output.bytes.length : 0;
    if (totalBytes > MAX_TOTAL_IMAGE_BYTES) {
      throw createLimitFault(
        `more than ${MAX_TOTAL_IMAGE_BYTES / 1024 ** 2} MiB of pictures, the most that a run holds`,
      );
    }
    outputs.push(output);
  }

  return outputs;
}

function createLimitFault(excess: string): ProviderFault {
  return new ProviderFault(`answered with ${excess}`, { mayHaveCost: true });
}

async function fetchImageOutput(
  image: AnswerImage,
  signal: AbortSignal,
  access: ProviderAccess,
): Promise<EngineOutput> {
  try {
    const bytes = await fetchImageBytes(image, access, signal);
    const mediaType = await detectImageType(bytes);
    if (mediaType !== undefined) return { type: 'image', bytes, mediaType };
    const message = `${access.provider.name} answered with something that is not a picture`;
    return { type: 'error', message: `${message}; ${COST_WARNING}` };
  } catch (error) {
    signal.throwIfAborted();
    const message = `the picture the model made could not be fetched: ${getErrorMessage(error)}`;
    return { type: 'error', message: `${message}; ${COST_WARNING}` };
  }
}

async function fetchImageBytes(
  { bytes, base64, url = '' }: AnswerImage,
  access: ProviderAccess,
  signal: AbortSignal,
): Promise<Buffer> {
  if (bytes !== undefined) return bytes;
  if (base64 !== undefined) return decodeBase64Image(base64);

  const dataUrlPrefix = /^data:[^,]{0,200};base64,/i.exec(url)?.[0];
  if (dataUrlPrefix !== undefined) return decodeBase64Image(url.slice(dataUrlPrefix.length));

  const { provider, env, privateRules } = access;
  return isSameOrigin(url, provider.baseUrl)
    ? await fetchFromProvider(new URL(url), env, signal)
    : await fetchImage(url, { signal, env, ...privateRules });
}

/** Number of characters to decode at a time; a multiple of four. */
const BASE64_PIECE_LENGTH = 1024 * 1024;

/** Decodes Base64 piece by piece, because Node copies a text before it decodes it. */
function decodeBase64Image(text: string): Buffer {
  const bytes = Buffer.allocUnsafe(Math.ceil((text.length / 4) * 3));
  let length = 0;
  for (let start = 0; start < text.length; start += BASE64_PIECE_LENGTH) {
    const piece = text.slice(start, start + BASE64_PIECE_LENGTH);
    const isLast = start + BASE64_PIECE_LENGTH >= text.length;
    // Characters that are skipped, such as line breaks, would end each piece within a group of
    // four.
    if (!isLast && !/^[\w+/-]*$/.test(piece)) return Buffer.from(text, 'base64');
    length += bytes.write(piece, length, 'base64');
  }

  return bytes.subarray(0, length);
}

/**
 * Fetches an image from the provider itself: the guard for public images would refuse a local
 * server.
 */
async function fetchFromProvider(url: URL, env: Env, signal: AbortSignal): Promise<Buffer> {
  const answer = await openHttp({ url, signal, proxy: findOutgoingProxy(url, env) });
  if (answer.status === 200) return await readBody(answer, MAX_IMAGE_BYTES);
  answer.discard();
  throw new Error(`its URL answers ${answer.status}`);
}
