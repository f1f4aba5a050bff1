import type { Readable } from 'node:stream';

/** A kind of blob: generated media, input images (kept for a day), or large input texts. */
export type BlobCollection = 'media' | 'inputs' | 'texts';

/** Bytes stored by name. A name may have several parts, separated by slashes. */
export interface Blobs {
  /** Resolves once the bytes are on disk. */
  write(name: string, bytes: Uint8Array, mediaType: string): Promise<void>;
  /**
   * Returns the bytes of a blob, or a range of them; undefined if the blob doesn't exist.
   *
   * @param range default all bytes
   */
  open(name: string, range?: ByteRange): Promise<Readable | undefined>;
  /** Removes the blob with this name, and those whose names begin with this name and a slash. */
  remove(name: string): Promise<void>;
  /** Returns the first parts of the names of blobs written before `time`, in milliseconds. */
  listWrittenBefore(time: number): Promise<string[]>;
}

/** A range of bytes, counted from 0; both ends are included. */
export interface ByteRange {
  readonly from: number;
  readonly to: number;
}

/** Returns blobs that are written to one place, and also found and removed in a former one. */
export function createLayeredBlobs(formerBlobs: Blobs, currentBlobs: Blobs): Blobs {
  return {
    write: currentBlobs.write,
    open: async (name, range) =>
      (await currentBlobs.open(name, range)) ?? (await formerBlobs.open(name, range)),
    async remove(name) {
      await currentBlobs.remove(name);
      await formerBlobs.remove(name);
    },
    async listWrittenBefore(time) {
      return [
        ...new Set([
          ...(await currentBlobs.listWrittenBefore(time)),
          ...(await formerBlobs.listWrittenBefore(time)),
        ]),
      ];
    },
  };
}
