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

/** A picture in an answer: its bytes or its URL. */
export interface PictureSource {
  readonly bytes?: Buffer;
  readonly base64?: string | undefined;
  /** An https or `data:` URL, or any of the provider's own origin. */
  readonly url?: string | undefined;
}

/** Maximum number of pictures in an answer, and maximum of their bytes in total. */
const MAX_PICTURES = 64;
const MAX_PICTURE_BYTES = 256 * 1024 * 1024;

const COST_WARNING = 'it may have been paid for';

/**
 * Fetches the pictures of an answer one after another. A picture that can't be fetched, or is not
 * one, becomes an error item.
 *
 * @throws {ProviderFault} if there are more of them, or larger ones, than a run may hold
 */
export async function fetchPictures(
  pictures: readonly PictureSource[],
  { signal }: Pick<EngineJob, 'signal'>,
  access: ProviderAccess,
): Promise<EngineOutput[]> {
  if (pictures.length > MAX_PICTURES) {
    throw pastLimitFault(`${pictures.length} pictures: a run holds at most ${MAX_PICTURES}`);
  }

  const outputs: EngineOutput[] = [];
  let bytes = 0;
  for (const picture of pictures) {
    const output = await fetchPictureOutput(picture, signal, access);
    bytes += output.type === 'image' ? output.bytes.length : 0;
    if (bytes > MAX_PICTURE_BYTES) {
      throw pastLimitFault('more than 256 MiB of pictures, the most that a run holds');
    }
    outputs.push(output);
  }

  return outputs;
}

function pastLimitFault(what: string): ProviderFault {
  return new ProviderFault(`answered with ${what}`, { mayHaveCost: true });
}

async function fetchPictureOutput(
  picture: PictureSource,
  signal: AbortSignal,
  access: ProviderAccess,
): Promise<EngineOutput> {
  try {
    const bytes = await fetchPictureBytes(picture, access, signal);
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

async function fetchPictureBytes(
  { bytes, base64, url = '' }: PictureSource,
  access: ProviderAccess,
  signal: AbortSignal,
): Promise<Buffer> {
  if (bytes !== undefined) return bytes;
  if (base64 !== undefined) return decodePicture(base64);

  const inline = /^data:[^,]{0,200};base64,/i.exec(url)?.[0];
  if (inline !== undefined) return decodePicture(url.slice(inline.length));

  const { provider, env, privateRules } = access;
  return isSameOrigin(url, provider.baseUrl)
    ? await fetchFromProvider(new URL(url), env, signal)
    : await fetchImage(url, { signal, env, ...privateRules });
}

/** Number of characters to decode at a time; a multiple of four. */
const PICTURE_PIECE_LENGTH = 1024 * 1024;

/** Decodes Base64 piece by piece, because Node copies a text before it decodes it. */
function decodePicture(text: string): Buffer {
  const bytes = Buffer.allocUnsafe(Math.ceil((text.length / 4) * 3));
  let length = 0;
  for (let start = 0; start < text.length; start += PICTURE_PIECE_LENGTH) {
    const piece = text.slice(start, start + PICTURE_PIECE_LENGTH);
    const isLast = start + PICTURE_PIECE_LENGTH >= text.length;
    // Characters that are skipped, such as line breaks, would end each piece within a group of
    // four.
    if (!isLast && !/^[\w+/-]*$/.test(piece)) return Buffer.from(text, 'base64');
    length += bytes.write(piece, length, 'base64');
  }

  return bytes.subarray(0, length);
}

/**
 * Fetches a picture from the provider itself: the guard for public pictures would refuse a local
 * server.
 */
async function fetchFromProvider(url: URL, env: Env, signal: AbortSignal): Promise<Buffer> {
  const answer = await openHttp({ url, signal, proxy: findOutgoingProxy(url, env) });
  if (answer.status === 200) return await readBody(answer, MAX_IMAGE_BYTES);
  answer.discard();
  throw new Error(`its URL answers ${answer.status}`);
}
