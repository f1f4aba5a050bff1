import type { Readable } from 'node:stream';

/** What bytes are kept of: generated media, and the input images of unfinished runs. */
export type Collection = 'media' | 'inputs';

/** Bytes by name; a name may have parts, separated by slashes. */
export interface Blobs {
  /** They are on disk once this resolves. */
  write(name: string, bytes: Uint8Array): Promise<void>;
  /** undefined where there are none of this name. */
  open(name: string): Promise<Readable | undefined>;
  /** Removes what has this name, or this first part of its name. */
  remove(name: string): Promise<void>;
  /** The first parts of the names of what was written before `time`, in milliseconds. */
  writtenBefore(time: number): Promise<string[]>;
}
