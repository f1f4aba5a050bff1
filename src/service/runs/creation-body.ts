import type { CreateRunRequest, ImageInput } from '../../wire/index.ts';
import { notFound, Refusal } from '../core/refusal.ts';
import type { Store } from '../store/store.ts';
import { isStoreUnavailable } from '../store/store-errors.ts';
import type { InputFiles } from './input-files.ts';

const NOT_KEPT_REASON = 'it failed before a model was asked, or an earlier version made it';

/**
 * Returns the body that created a run.
 *
 * @throws {Refusal} NOT_FOUND if it is not kept, GONE if its images were removed
 */
export async function readCreationBody(
  { store, inputFiles }: { readonly store: Store; readonly inputFiles: InputFiles },
  userId: number,
  id: string,
): Promise<CreateRunRequest> {
  const storedRequest = await store.runs.findRequest(userId, id);
  if (!storedRequest) throw notFound(`the request of the run is not kept: ${NOT_KEPT_REASON}`);

  const { images, urls = [], runOptions } = storedRequest.request;
  const textInputs = await inputFiles.readTexts(id, storedRequest.request);
  const hasSentImages = images.some((_, index) => typeof urls[index] !== 'string');
  const sentImages = hasSentImages ? await inputFiles.readImages(id, images).catch(refuseGone) : [];
  const imageInputs = images.map((_, index): ImageInput => {
    const url = urls[index];
    if (typeof url === 'string') return { type: 'url', url };
    return { type: 'base64', base64: sentImages[index]?.bytes.toString('base64') ?? '' };
  });

  return {
    promptVersionId: storedRequest.promptVersionId,
    inputs: {
      ...(Object.keys(textInputs).length > 0 && { textInputs }),
      ...(imageInputs.length > 0 && { imageInputs }),
    },
    ...(Object.keys(runOptions).length > 0 && { runOptions }),
  };
}

function refuseGone(error: unknown): never {
  if (isStoreUnavailable(error)) throw error;
  throw new Refusal('GONE', "the pictures of the run's request are no longer kept");
}
