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
        const bytes = await this.#images.open(formatImageName(runId, index));
        if (!bytes) throw new Error(`picture ${index + 1} of its inputs is no longer there`);
        return { mediaType, bytes: await buffer(bytes) };
      }),
    );
  }

  /** Writes large texts to disk and returns the request to store. */
  async storeLargeTexts(runId: string, request: StoredRequest): Promise<StoredRequest> {
    const size = Object.values(request.textInputs).reduce((sum, text) => sum + text.length, 0);
    if (size <= MAX_ROW_TEXTS_LENGTH) return request;
    await this.#texts.write(
      runId,
      Buffer.from(JSON.stringify(request.textInputs)),
      'application/json',
    );
    return { ...request, textsApart: true };
  }

  /** Returns the texts of a run, from its row or from disk. */
  async readTexts(
    runId: string,
    { textInputs, textsApart }: StoredRequest,
  ): Promise<StoredRequest['textInputs']> {
    if (!textsApart || Object.keys(textInputs).length > 0) return textInputs;
    const bytes = await this.#texts.open(runId);
    if (!bytes) throw new Error('its texts are no longer there');
    return JSON.parse((await buffer(bytes)).toString()) as StoredRequest['textInputs'];
  }

  /** Removes the images and texts of a request whose run was not created. */
  async remove(runId: string, { images, textsApart }: StoredRequest): Promise<void> {
    if (images.length > 0) await this.#removeImages([runId]);
    if (textsApart) await this.#texts.remove(runId);
  }

  /** Makes room for a user's images; returns false if no ended run of the user has any. */
  async makeRoom(userId: number): Promise<boolean> {
    const runIds = await this.#runs.releaseImages({ userId });
    await this.#removeImages(runIds);
    return runIds.length > 0;
  }

  /** Deletes files that are older than a day, and orphaned ones. */
  async deleteExpired(): Promise<void> {
    await this.#removeImages(
      await this.#runs.releaseImages({ before: this.#clock.now() - IMAGE_LIFETIME_MS }),
    );
    const runsWithImages = await this.#images.listWrittenBefore(
      this.#clock.now() - ORPHAN_INPUT_AGE_MS,
    );
    const neededImages = await this.#runs.filterWithImages(runsWithImages);
    await this.#removeImages(runsWithImages.filter(runId => !neededImages.has(runId)));
    const runsWithTexts = await this.#texts.listWrittenBefore(
      this.#clock.now() - ORPHAN_INPUT_AGE_MS,
    );
    const neededTexts = await this.#runs.filterWithRequests(runsWithTexts);
    for (const runId of runsWithTexts) if (!neededTexts.has(runId)) await this.#texts.remove(runId);
  }

  // The next sweep finds files that were not removed because the object store was unavailable.
  async #removeImages(runIds: readonly string[]): Promise<void> {
    for (const runId of runIds) await this.#images.remove(runId).catch(ignoreUnavailableStore);
  }
}

function formatImageName(runId: string, index: number): string {
  return `${runId}/${index}`;
}
