import { buffer } from 'node:stream/consumers';
import type { LoadedImage } from '../../prompts/render/loaded-image.ts';
import type { Clock } from '../core/clock.ts';
import type { StoredRequest } from '../store/runs/run-records.ts';
import type { Store } from '../store/store.ts';
import { ignoreUnavailableStore } from '../store/store-errors.ts';

/** The input pictures of runs, kept for a day so that a run can be repeated, and their large texts. */
export type InputFiles = ReturnType<typeof createInputFiles>;

const KEPT_MS = 24 * 60 * 60 * 1000;
/** Longer than a creation takes from its first file to its run, in milliseconds. */
const SETTLED_MS = 60 * 60 * 1000;

/** Maximum length of texts in the row of a run, in characters; writing a larger row would delay all users. */
const LARGE_TEXTS = 256 * 1024;

export function createInputFiles(
  { inputs: blobs, texts }: Pick<Store['blobs'], 'inputs' | 'texts'>,
  runs: Store['runs'],
  clock: Clock,
) {
  const inputName = (runId: string, index: number): string => `${runId}/${index}`;
  // The next sweep finds files that were not removed because the object store was unavailable.
  const removeAll = async (runIds: readonly string[]): Promise<void> => {
    for (const runId of runIds) await blobs.remove(runId).catch(ignoreUnavailableStore);
  };
  return {
    async save(runId: string, images: readonly LoadedImage[]): Promise<void> {
      await Promise.all(
        images.map((image, index) => blobs.write(inputName(runId, index), image.bytes, image.mediaType)),
      );
    },
    /** Writes large texts to disk and returns the request to store. */
    async storeLargeTexts(runId: string, request: StoredRequest): Promise<StoredRequest> {
      const size = Object.values(request.textInputs).reduce((sum, text) => sum + text.length, 0);
      if (size <= LARGE_TEXTS) return request;
      await texts.write(runId, Buffer.from(JSON.stringify(request.textInputs)), 'application/json');
      return { ...request, textsApart: true };
    },
    /** Returns the texts of a run, from its row or from disk. */
    async readTexts(
      runId: string,
      { textInputs, textsApart }: StoredRequest,
    ): Promise<StoredRequest['textInputs']> {
      if (!textsApart || Object.keys(textInputs).length > 0) return textInputs;
      const bytes = await texts.open(runId);
      if (!bytes) throw new Error('its texts are no longer there');
      return JSON.parse((await buffer(bytes)).toString()) as StoredRequest['textInputs'];
    },
    /** @throws if a picture is no longer available */
    load: async (runId: string, mediaTypes: readonly string[]): Promise<LoadedImage[]> =>
      await Promise.all(
        mediaTypes.map(async (mediaType, index) => {
          const bytes = await blobs.open(inputName(runId, index));
          if (!bytes) throw new Error(`picture ${index + 1} of its inputs is no longer there`);
          return { mediaType, bytes: await buffer(bytes) };
        }),
      ),
    /** Removes the pictures and texts of a request whose run was not created. */
    async remove(runId: string, { images, textsApart }: StoredRequest): Promise<void> {
      if (images.length > 0) await removeAll([runId]);
      if (textsApart) await texts.remove(runId);
    },
    /** Makes room for a user's pictures; returns false if no ended run of the user has any. */
    async makeRoom(userId: number): Promise<boolean> {
      const freed = await runs.forgetImages({ userId });
      await removeAll(freed);
      return freed.length > 0;
    },
    /** Deletes files that are older than a day, and orphaned ones. */
    async sweep(): Promise<void> {
      await removeAll(await runs.forgetImages({ before: clock.now() - KEPT_MS }));
      const old = await blobs.writtenBefore(clock.now() - SETTLED_MS);
      const needed = await runs.withImages(old);
      await removeAll(old.filter(runId => !needed.has(runId)));
      const oldTexts = await texts.writtenBefore(clock.now() - SETTLED_MS);
      const wanted = await runs.withRequests(oldTexts);
      for (const runId of oldTexts) if (!wanted.has(runId)) await texts.remove(runId);
    },
  };
}
