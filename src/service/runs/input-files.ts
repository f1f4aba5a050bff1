import { buffer } from 'node:stream/consumers';
import type { Clock } from '../clock.ts';
import type { LoadedImage } from '../images/loaded-image.ts';
import type { Blobs } from '../store/store.ts';

/** The input pictures of runs, kept until the run ends so that it can be started again. */
export interface InputFiles {
  save(runId: string, images: readonly LoadedImage[]): Promise<void>;
  load(runId: string, mediaTypes: readonly string[]): Promise<LoadedImage[]>;
  remove(runId: string): Promise<void>;
  /** The runs whose files are so old that they may have been left behind. */
  leftBehind(): Promise<string[]>;
}

/** Longer than any creation takes from its first file to its run, in milliseconds. */
const SETTLED_MS = 60 * 60 * 1000;

export function inputFiles(blobs: Blobs, clock: Clock): InputFiles {
  const nameOf = (runId: string, index: number): string => `${runId}/${index}`;
  return {
    async save(runId, images) {
      await Promise.all(images.map((image, index) => blobs.write(nameOf(runId, index), image.bytes)));
    },
    load: async (runId, mediaTypes) =>
      await Promise.all(
        mediaTypes.map(async (mediaType, index) => {
          const bytes = await blobs.open(nameOf(runId, index));
          if (!bytes) throw new Error(`picture ${index + 1} of its inputs is no longer there`);
          return { mediaType, bytes: await buffer(bytes) };
        }),
      ),
    remove: runId => blobs.remove(runId),
    leftBehind: () => blobs.writtenBefore(clock.now() - SETTLED_MS),
  };
}
