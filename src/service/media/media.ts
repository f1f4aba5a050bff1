import { randomUUID } from 'node:crypto';
import path from 'node:path';
import type { Readable } from 'node:stream';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { MEDIA_LIFETIME_MS } from '../../wire/index.ts';
import type { Clock } from '../core/clock.ts';
import type { ByteRange } from '../store/blobs.ts';
import type { StoredMedia } from '../store/media-store.ts';
import type { StoredOutput } from '../store/run-records.ts';
import type { Store } from '../store/store.ts';

/** An output whose bytes are kept apart. */
export type MediaOutput = Extract<StoredOutput, { media: string }>;

export interface FoundMedia {
  readonly media: StoredMedia;
  /** The bytes; undefined where they are gone. */
  open(range?: ByteRange): Promise<Readable | undefined>;
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

/** Generated pictures and videos, kept for 24 hours. */
export type Media = ReturnType<typeof openMedia>;

export function openMedia(dataDir: string, store: Store, clock: Clock) {
  const bytes = store.blobs.media;
  // Where the bytes lie, unless the store keeps them elsewhere: then nobody asks for the URLs of files.
  const directory = path.join(dataDir, 'media');
  const urlOf = (media: MediaName): string => pathToFileURL(path.join(directory, mediaFileName(media))).href;
  const find = async (id: string): Promise<FoundMedia | undefined> => {
    const media = await store.media.find(id);
    return media && { media, open: range => bytes.open(mediaFileName(media), range) };
  };
  return {
    async save(runId: string, content: Uint8Array, mediaType: string): Promise<StoredMedia> {
      const id = randomUUID();
      await bytes.write(mediaFileName({ id, mediaType }), content, mediaType);
      return { id, runId, mediaType, size: content.byteLength, createdAt: clock.now() };
    },
    /** Where the bytes are; undefined for media that is not there any more. */
    find,
    /** A `file:` URL of the media itself, for callers on this machine; good until the media expires. */
    fileUrlOf: ({ media: id, mediaType }: MediaOutput) => urlOf({ id, mediaType }),
    /** Whether a `file:` URL leads into the directory of the media. */
    isFile: (url: URL) => url.protocol === 'file:' && fileDirectory(url) === directory,
    /** What a `file:` URL of media leads to; `missing` too where it leads anywhere else. */
    async findFile(url: string) {
      const file = await find(path.parse(new URL(url).pathname).name);
      if (!file || urlOf(file.media) !== url) return 'missing';
      return clock.now() < file.media.createdAt + MEDIA_LIFETIME_MS ? file : 'expired';
    },
    /** Deletes what has expired. */
    async sweep(): Promise<void> {
      const gone = await store.media.forgetBefore(clock.now() - MEDIA_LIFETIME_MS);
      for (const media of gone) await bytes.remove(mediaFileName(media));
      // What a process wrote that died before its run had ended.
      for (const name of await bytes.writtenBefore(clock.now() - LEFT_BEHIND_MS)) await bytes.remove(name);
    },
  };
}

/** Undefined for a URL that is not of a file here: on Windows one without a drive, elsewhere one of another computer. */
function fileDirectory(url: URL): string | undefined {
  try {
    return path.dirname(fileURLToPath(url));
  } catch {
    return undefined;
  }
}

type MediaName = Pick<StoredMedia, 'id' | 'mediaType'>;

/** What the file of media is called, in the data directory and in URLs. */
export function mediaFileName({ id, mediaType }: MediaName): string {
  return `${id}.${EXTENSIONS[mediaType] ?? 'bin'}`;
}
