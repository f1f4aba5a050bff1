import { expect, it } from 'vitest';
import { InputFiles } from '../../../src/service/runs/input-files.ts';
import type { Blobs } from '../../../src/service/store/blobs/blobs.ts';
import type { Store } from '../../../src/service/store/store.ts';
import { ObjectStoreError } from '../../../src/service/store/store-errors.ts';

/** Creates blobs of a store that can't remove those of the run `stuck`. */
function createBlobs(runIds: readonly string[]): { blobs: Blobs; removedIds: string[] } {
  const removedIds: string[] = [];
  const blobs: Blobs = {
    write: () => Promise.resolve(),
    open: () => Promise.resolve(undefined),
    remove: async runId => {
      if (runId === 'stuck') throw new ObjectStoreError('the object store is away');
      removedIds.push(runId);
    },
    listWrittenBefore: () => Promise.resolve([...runIds]),
  };
  return { blobs, removedIds };
}

const runs = {
  releaseImages: () => Promise.resolve([]),
  filterWithImages: () => Promise.resolve(new Set()),
  filterWithRequests: () => Promise.resolve(new Set()),
} as unknown as Store['runs'];

const clock = { now: () => 0, sleep: () => Promise.resolve() };

it('sweeps the other images and texts if the store is unavailable for one of them', async () => {
  const images = createBlobs(['stuck', 'image-orphan']);
  const texts = createBlobs(['stuck', 'text-orphan']);
  const inputFiles = new InputFiles({ inputs: images.blobs, texts: texts.blobs }, runs, clock);
  await inputFiles.deleteExpired();

  expect(images.removedIds).toEqual(['image-orphan']);
  expect(texts.removedIds).toEqual(['text-orphan']);
});

it('lets a refused creation keep its own error if the store is unavailable', async () => {
  const { blobs } = createBlobs([]);
  const inputFiles = new InputFiles({ inputs: blobs, texts: blobs }, runs, clock);
  const request = {
    textInputs: {},
    images: ['image/png'],
    runOptions: {},
    textsApart: true,
  } as const;
  await expect(
    inputFiles.remove('stuck', { ...request, images: [...request.images] }),
  ).resolves.toBeUndefined();
});
