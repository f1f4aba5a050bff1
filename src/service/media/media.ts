import { randomUUID } from 'node:crypto';
import path from 'node:path';
import type { Readable } from 'node:stream';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { MEDIA_LIFETIME_MS } from '../../wire/index.ts';
import type { Clock } from '../core/clock.ts';
import type { ByteRange } from '../store/blobs/blobs.ts';
import type { StoredMedia } from '../store/media-store.ts';
import type { StoredOutput } from '../store/runs/run-records.ts';
import type { Store } from '../store/store.ts';

/** An output whose bytes are a blob. */
export type MediaOutput = Extract<StoredOutput, { media: string }>;

export interface FoundMedia {
  readonly media: StoredMedia;
  /** Returns the bytes, or a range of them; undefined if they have been deleted. */
  open(range?: ByteRange): Promise<Readable | undefined>;
}

const MEDIA_EXTENSIONS: Readonly<Record<string, string>> = {
  'image/png': 'png',
  'image/jpeg': 'jpg',
  'image/webp': 'webp',
  'image/gif': 'gif',
  'image/avif': 'avif',
  'video/mp4': 'mp4',
  'video/webm': 'webm',
};

/**
 * Minimum age of bytes that are deleted because no record names them, in milliseconds: the lifetime
 * of an output plus more time than any run takes.
 */
const ORPHAN_AGE_MS = MEDIA_LIFETIME_MS + 60 * 60 * 1000;

/** Generated images and videos, kept for 24 hours. */
export type Media = ReturnType<typeof openMedia>;

export function openMedia(dataDir: string, store: Store, clock: Clock) {
  const blobs = store.blobs.media;

  // `file:` URLs point here. A store that keeps media elsewhere is never asked for them.
  const directory = path.join(dataDir, 'media');
  const formatMediaFileUrl = (media: MediaName): string =>
    pathToFileURL(path.join(directory, formatMediaFileName(media))).href;

  const find = async (id: string): Promise<FoundMedia | undefined> => {
    const media = await store.media.find(id);
    return media && { media, open: range => blobs.open(formatMediaFileName(media), range) };
  };

  return {
    async save(runId: string, content: Uint8Array, mediaType: string): Promise<StoredMedia> {
      const id = randomUUID();
      await blobs.write(formatMediaFileName({ id, mediaType }), content, mediaType);
      return { id, runId, mediaType, size: content.byteLength, createdAt: clock.now() };
    },
    /** Returns media by id; undefined if it has been deleted. */
    find,
    /** Returns the `file:` URL of an output, for callers on this machine. */
    toFileUrl: ({ media: id, mediaType }: MediaOutput) => formatMediaFileUrl({ id, mediaType }),
    /** Returns true if a `file:` URL points into the media directory. */
    isMediaFileUrl: (url: URL) => url.protocol === 'file:' && getFileDirectory(url) === directory,
    /**
     * Returns the media of a `file:` URL; `missing` if it was deleted or the URL is not of this
     * store.
     */
    async findByFileUrl(url: string) {
      const foundMedia = await find(path.parse(new URL(url).pathname).name);
      if (!foundMedia || formatMediaFileUrl(foundMedia.media) !== url) return 'missing';
      return clock.now() < foundMedia.media.createdAt + MEDIA_LIFETIME_MS ? foundMedia : 'expired';
    },
    /** Deletes expired media, and bytes that no record names. */
    async deleteExpired(): Promise<void> {
      const removed = await store.media.deleteBefore(clock.now() - MEDIA_LIFETIME_MS);
      for (const media of removed) await blobs.remove(formatMediaFileName(media));
      // A process that died before the end of its run may have left bytes without a record.
      for (const name of await blobs.listWrittenBefore(clock.now() - ORPHAN_AGE_MS)) {
        await blobs.remove(name);
      }
    },
  };
}

/**
 * Returns the directory of a `file:` URL; undefined if it has no drive on Windows, or names another
 * host elsewhere.
 */
function getFileDirectory(url: URL): string | undefined {
  try {
    return path.dirname(fileURLToPath(url));
  } catch {
    return undefined;
  }
}

type MediaName = Pick<StoredMedia, 'id' | 'mediaType'>;

/** Returns the file name of media, in the data directory and in URLs. */
export function formatMediaFileName({ id, mediaType }: MediaName): string {
  return `${id}.${MEDIA_EXTENSIONS[mediaType] ?? 'bin'}`;
}
