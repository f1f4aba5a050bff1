import { detectImageType } from '../../files/formats/image-type.ts';
import { type FetchImageOptions, fetchImage } from '../../models/outgoing/fetch-image.ts';
import { decodeBase64, type LoadedImage } from '../../prompts/render/loaded-image.ts';
import { getErrorMessage } from '../../utils/error-utils.ts';
import { type ImageInput, MAX_IMAGE_BYTES } from '../../wire/index.ts';
import { invalidRequest, Refusal } from '../core/refusal.ts';

/**
 * Decodes or fetches the images of a run, in order.
 *
 * @throws {Refusal} for the first image that can't be used, and whatever `onBytes` throws
 */
export async function loadImageInputs(
  inputs: readonly ImageInput[],
  options: FetchImageOptions,
): Promise<LoadedImage[]> {
  // Once an image is refused, the others are no longer fetched.
  const stopLoads = new AbortController();
  const signal = AbortSignal.any([options.signal, stopLoads.signal]);
  try {
    return await Promise.all(
      inputs.map((input, index) => loadImage(input, index, { ...options, signal })),
    );
  } finally {
    stopLoads.abort();
  }
}

async function loadImage(
  input: ImageInput,
  index: number,
  options: FetchImageOptions,
): Promise<LoadedImage> {
  try {
    return await toLoadedImage(
      input.type === 'url' ? await fetchImage(input.url, options) : decodeBase64(input.base64),
    );
  } catch (error) {
    options.signal.throwIfAborted();
    if (error instanceof Refusal) throw error;
    throw invalidRequest(`inputs.imageInputs[${index}].${input.type}: ${getErrorMessage(error)}`);
  }
}

async function toLoadedImage(bytes: Buffer): Promise<LoadedImage> {
  if (bytes.length === 0) throw new Error('the image is empty');
  if (bytes.length > MAX_IMAGE_BYTES) throw new Error('the image is larger than 20 MiB');
  const mediaType = await detectImageType(bytes);
  if (mediaType === undefined) {
    throw new Error('this is not an image, such as a PNG, JPEG, GIF or WebP file');
  }
  return { bytes, mediaType };
}
