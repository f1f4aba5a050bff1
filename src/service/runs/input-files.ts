import { buffer } from 'node:stream/consumers';
import type { LoadedImage } from '../../prompts/render/loaded-image.ts';
import type { Clock } from '../core/clock.ts';
import type { Blobs } from '../store/blobs/blobs.ts';
import type { StoredRequest } from '../store/runs/run-records.ts';
import type { Store } from '../store/store.ts';
import { ignoreUnavailableStore } from '../store/store-errors.ts';

const IMAGE_LIFETIME_MS = 24 * 60 * 60 * 1000;

/** Longer than a creation takes from its first file to its run, in milliseconds. */
const ORPHAN_INPUT_AGE_MS = 60 * 60 * 1000;

/**
 * Maximum length of texts in the row of a run, in characters; writing a larger row would delay all
 * users.
 */
const MAX_ROW_TEXTS_LENGTH = 256 * 1024;

/**
 * The input images of runs, kept for a day so that a run can be repeated, and their large texts.
 */
export class InputFiles {
  readonly #images: Blobs;
  readonly #texts: Blobs;
  readonly #runs: Store['runs'];
  readonly #clock: Clock;

  constructor(
    { inputs, texts }: Pick<Store['blobs'], 'inputs' | 'texts'>,
    runs: Store['runs'],
    clock: Clock,
  ) {
    this.#images = inputs;
    this.#texts = texts;
    this.#runs = runs;
    this.#clock = clock;
  }

  async saveImages(runId: string, images: readonly LoadedImage[]): Promise<void> {
    await Promise.all(
      images.map(({ bytes, mediaType }, index) =>
        this.#images.write(formatImageName(runId, index), bytes, mediaType),
      ),
    );
  }

  /** @throws if an image is no longer available */
  async readImages(runId: string, mediaTypes: readonly string[]): Promise<LoadedImage[]> {
    return await Promise.all(
      mediaTypes.map(async (mediaType, index) => {
        const stream = await this.#images.open(formatImageName(runId, index));
        if (!stream) throw new Error(`picture ${index + 1} of its inputs is no longer there`);
        return { mediaType, bytes: await buffer(stream) };
      }),
    );
  }

  /** Writes large texts to a blob and returns the request to store, whose row leaves them out. */
  async storeLargeTexts(runId: string, request: StoredRequest): Promise<StoredRequest> {
    const textsLength = Object.values(request.textInputs).reduce(
      (sum, text) => sum + text.length,
      0,
    );
    if (textsLength <= MAX_ROW_TEXTS_LENGTH) return request;
    await this.#texts.write(
      runId,
      Buffer.from(JSON.stringify(request.textInputs)),
      'application/json',
    );
    return { ...request, textsApart: true };
  }

  /** Returns the texts of a run, from its row or from their blob. */
  async readTexts(
    runId: string,
    { textInputs, textsApart }: StoredRequest,
  ): Promise<StoredRequest['textInputs']> {
    if (!textsApart || Object.keys(textInputs).length > 0) return textInputs;
    const stream = await this.#texts.open(runId);
    if (!stream) throw new Error('its texts are no longer there');
    return JSON.parse((await buffer(stream)).toString()) as StoredRequest['textInputs'];
  }

  /** Removes the images and texts of a request whose run was not created. */
  async remove(runId: string, { images, textsApart }: StoredRequest): Promise<void> {
    if (images.length > 0) await removeBlobs(this.#images, [runId]);
    if (textsApart) await removeBlobs(this.#texts, [runId]);
  }

  /** Makes room for a user's images; returns false if no ended run of the user has any. */
  async makeRoom(userId: number): Promise<boolean> {
    const runIds = await this.#runs.releaseImages({ userId });
    await removeBlobs(this.#images, runIds);
    return runIds.length > 0;
  }

  /** Deletes images that are older than a day, and images and texts that belong to no run. */
  async deleteExpired(): Promise<void> {
    const expiredBefore = this.#clock.now() - IMAGE_LIFETIME_MS;
    await removeBlobs(this.#images, await this.#runs.releaseImages({ before: expiredBefore }));

    const orphanedBefore = this.#clock.now() - ORPHAN_INPUT_AGE_MS;
    const imageRunIds = await this.#images.listWrittenBefore(orphanedBefore);
    const idsToKeepImages = await this.#runs.filterWithImages(imageRunIds);
    await removeBlobs(
      this.#images,
      imageRunIds.filter(runId => !idsToKeepImages.has(runId)),
    );

    const textRunIds = await this.#texts.listWrittenBefore(orphanedBefore);
    const idsToKeepTexts = await this.#runs.filterWithRequests(textRunIds);
    await removeBlobs(
      this.#texts,
      textRunIds.filter(runId => !idsToKeepTexts.has(runId)),
    );
  }
}

/** Removes the blobs of runs. The next sweep finds those that an unavailable store still has. */
async function removeBlobs(blobs: Blobs, runIds: readonly string[]): Promise<void> {
  for (const runId of runIds) await blobs.remove(runId).catch(ignoreUnavailableStore);
}

function formatImageName(runId: string, index: number): string {
  return `${runId}/${index}`;
}
