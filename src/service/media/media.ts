import { randomUUID } from 'node:crypto';
import path from 'node:path';
import type { Readable } from 'node:stream';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { MEDIA_LIFETIME_MS } from '../../wire/index.ts';
import type { Clock } from '../clock.ts';
import type { StoredMedia } from '../store/media-store.ts';
import type { StoredOutput } from '../store/run-records.ts';
import type { Store } from '../store/store.ts';

/** An output whose bytes are kept apart. */
export type MediaOutput = Extract<StoredOutput, { media: string }>;

/** Generated pictures and videos, kept for 24 hours. */
export interface Media {
  save(runId: string, bytes: Uint8Array, mediaType: string): Promise<StoredMedia>;
  /** Where the bytes are; undefined for media that is not there any more. */
  find(id: string): Promise<FoundMedia | undefined>;
  /** A `file:` URL of the media itself, for callers on this machine; good until the media expires. */
  fileUrlOf(output: MediaOutput): string;
  /** Whether a `file:` URL leads into the directory of the media. */
  isFile(url: URL): boolean;
  /** What a `file:` URL of media leads to; `missing` too where it leads anywhere else. */
  findFile(url: string): Promise<FoundMedia | 'missing' | 'expired'>;
  /** Deletes what has expired. */
  sweep(): Promise<void>;
}

export interface FoundMedia {
  readonly media: StoredMedia;
  /** The bytes; undefined where they are gone. */
  open(): Promise<Readable | undefined>;
}

const EXTENSIONS: Readonly<Record<string, string>> = {
  'image/png': 'png',
  'image/jpeg': 'jpg',
  'image/webp': 'webp',
  'image/gif': 'gif',
  'image/avif': 'avif',
  'video/mp4': 'mp4',
  'video/webm': 'webm',
};

/** Longer than any run takes from its first output to its end after that output's lifetime, in milliseconds. */
const LEFT_BEHIND_MS = MEDIA_LIFETIME_MS + 60 * 60 * 1000;

export function openMedia(dataDir: string, store: Store, clock: Clock): Media {
  const bytes = store.blobs.media;
  // Where the bytes lie, unless the store keeps them elsewhere: then nobody asks for the URLs of files.
  const directory = path.join(dataDir, 'media');
  const fileOf = (media: MediaName): string => path.join(directory, mediaFileName(media));
  const find = async (id: string): Promise<FoundMedia | undefined> => {
    const media = await store.media.find(id);
    return media && { media, open: () => bytes.open(mediaFileName(media)) };
  };

  return {
    async save(runId, content, mediaType) {
      const id = randomUUID();
      await bytes.write(mediaFileName({ id, mediaType }), content);
      return { id, runId, mediaType, size: content.byteLength, createdAt: clock.now() };
    },
    find,
    fileUrlOf: ({ media: id, mediaType }) => pathToFileURL(fileOf({ id, mediaType })).href,
    isFile: url => url.protocol === 'file:' && path.dirname(fileURLToPath(url)) === directory,
    async findFile(url) {
      const found = await find(path.parse(new URL(url).pathname).name);
      if (!found || pathToFileURL(fileOf(found.media)).href !== url) return 'missing';
      return clock.now() < found.media.createdAt + MEDIA_LIFETIME_MS ? found : 'expired';
    },
    async sweep() {
      const gone = await store.media.forgetBefore(clock.now() - MEDIA_LIFETIME_MS);
      for (const media of gone) await bytes.remove(mediaFileName(media));
      // What a process wrote that died before its run had ended.
      for (const name of await bytes.writtenBefore(clock.now() - LEFT_BEHIND_MS)) await bytes.remove(name);
    },
  };
}

type MediaName = Pick<StoredMedia, 'id' | 'mediaType'>;

/** What the file of media is called, in the data directory and in URLs. */
export function mediaFileName({ id, mediaType }: MediaName): string {
  return `${id}.${EXTENSIONS[mediaType] ?? 'bin'}`;
}
