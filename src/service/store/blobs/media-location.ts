import { randomBytes } from 'node:crypto';
import { DataDirectoryError } from '../../../files/data-directory.ts';
import type { Clock } from '../../core/clock.ts';
import type { Store } from '../store.ts';
import { ObjectStoreError } from '../store-errors.ts';
import { createLayeredBlobs } from './blobs.ts';
import type { BucketLocation } from './bucket-location.ts';
import { MEDIA_DIRECTORY_SETTING } from './media-directory.ts';
import { ObjectStore } from './object-store.ts';

/**
 * The settings with the object store of all instances: its name, and its address once it has
 * answered.
 */
const NAME_SETTING = 'mediaObjects';
const ADDRESS_SETTING = 'mediaObjectsAt';

/**
 * The setting with the prefix of all keys, so that two stores in one bucket never share objects.
 */
const PREFIX_SETTING = 'mediaObjectsSpace';

/**
 * Returns a store that keeps media and input images in an object store, and still finds those that
 * were stored elsewhere before.
 */
export async function keepInObjectStore(
  store: Store,
  location: BucketLocation,
  clock: Clock,
): Promise<Store> {
  const { value: keyPrefix } = await store.settings.getOrCreate(PREFIX_SETTING, () =>
    randomBytes(16).toString('hex'),
  );
  const objectStore = new ObjectStore({ location, keyPrefix, clock });
  const { media, inputs } = store.blobs;

  return {
    ...store,
    objectStore,
    blobs: {
      ...store.blobs,
      media: createLayeredBlobs(media, objectStore.createBlobs('media')),
      inputs: createLayeredBlobs(inputs, objectStore.createBlobs('inputs')),
    },
    async close() {
      objectStore.close();
      await store.close();
    },
  };
}

/**
 * Checks that all instances on a store keep media in the same place, if any of them uses an object
 * store.
 *
 * @param onNotice called if the object store can't be reached at present
 * @throws {DataDirectoryError} if this instance uses another place
 * @throws {ObjectStoreError} if the object store refuses
 */
export async function checkObjectStoreLocation(
  { settings, objectStore }: Store,
  onNotice: (line: string) => void,
): Promise<void> {
  const storedName = await settings.get(NAME_SETTING);
  if (!objectStore) {
    if (storedName === undefined) return;
    throw new DataDirectoryError(
      `the instances on this store keep media in ${storedName}; give it to this one too, with --media ${storedName}`,
    );
  }

  if ((await settings.get(MEDIA_DIRECTORY_SETTING)) !== undefined) {
    throw new DataDirectoryError(
      'the instances on this database keep media in a directory that they share; give it to this one, with --media-dir',
    );
  }

  const { name, bucketUrl } = objectStore.location;
  if (storedName !== undefined && storedName !== name) {
    throw differentLocationError(name, storedName);
  }

  const address = await settings.get(ADDRESS_SETTING);
  if (address !== undefined && address !== bucketUrl) {
    throw differentLocationError(name, `${name} at another address`);
  }

  const isReachable = await probeObjectStore(objectStore, onNotice);
  await settings.getOrCreate(NAME_SETTING, () => name);
  if (isReachable) await settings.getOrCreate(ADDRESS_SETTING, () => bucketUrl);
}

/** Returns false, with a notice, if the object store can't be reached at present. */
async function probeObjectStore(
  objectStore: ObjectStore,
  onNotice: (line: string) => void,
): Promise<boolean> {
  try {
    await objectStore.probe();
    return true;
  } catch (error) {
    if (!(error instanceof ObjectStoreError)) throw error;

    const { name } = objectStore.location;
    if (error.isRefusal) {
      throw new ObjectStoreError(`${name} can't be used: ${error.message}`, {
        isRefusal: true,
        cause: error,
      });
    }

    onNotice(`warning: ${error.message}; runs with pictures resume by themselves once it is back`);
    return false;
  }
}

function differentLocationError(name: string, usedName: string): DataDirectoryError {
  return new DataDirectoryError(
    `${name} is not where the instances on this store keep media, which is ${usedName}; give this one the same --media, AWS_ENDPOINT_URL_S3 and AWS_REGION`,
  );
}
