import type { Readable } from 'node:stream';

/** What bytes are kept of: generated media, input images for a day, and large input texts. */
export type Collection = 'media' | 'inputs' | 'texts';

/** Bytes by name; a name may have parts, separated by slashes. */
export interface Blobs {
  /** They are on disk once this resolves. */
  write(name: string, bytes: Uint8Array, mediaType: string): Promise<void>;
  /**
   * Gives undefined if there are none of this name.
   *
   * @param range default all of them
   */
  open(name: string, range?: ByteRange): Promise<Readable | undefined>;
  /** Removes what has this name, or this first part of its name. */
  remove(name: string): Promise<void>;
  /** The first parts of the names of what was written before `time`, in milliseconds. */
  writtenBefore(time: number): Promise<string[]>;
}

/** Some of the bytes, from the first to the last, counted from 0. */
export interface ByteRange {
  readonly from: number;
  readonly to: number;
}

/** Blobs that are written to one place; what another kept before is found and removed there. */
export function blobsAfter(former: Blobs, blobs: Blobs): Blobs {
  return {
    write: blobs.write,
    open: async (name, range) => (await blobs.open(name, range)) ?? (await former.open(name, range)),
    async remove(name) {
      await blobs.remove(name);
      await former.remove(name);
    },
    async writtenBefore(time) {
      return [...new Set([...(await blobs.writtenBefore(time)), ...(await former.writtenBefore(time))])];
    },
  };
}
