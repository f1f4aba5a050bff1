import { createHmac, randomBytes, randomUUID } from 'node:crypto';
import { rm } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { MEDIA_LIFETIME_MS } from '../../wire/index.ts';
import type { Clock } from '../clock.ts';
import { isSameSecret } from '../same-secret.ts';
import { writeDurably } from '../store/durable-file.ts';
import type { StoredMedia } from '../store/media-store.ts';
import type { StoredOutput } from '../store/run-records.ts';
import type { Store } from '../store/store.ts';

/** An output whose bytes are in a file. */
export type MediaOutput = Extract<StoredOutput, { media: string }>;

/** Generated pictures and videos: files in the data directory behind signed URLs that live 24 hours. */
export interface Media {
  save(runId: string, bytes: Uint8Array, mediaType: string): Promise<StoredMedia>;
  /** The path and query of an output's URL; good until 24 hours after it was made. */
  pathOf(output: MediaOutput): string;
  /** A `file:` URL of the media itself, for callers on this machine; good until the media expires. */
  fileUrlOf(output: MediaOutput): string;
  /** Whether a `file:` URL leads into the directory of the media. */
  isFile(url: URL): boolean;
  /** What a `file:` URL leads to; `forged` where it is not one of this service's media. */
  openFile(url: string): Promise<OpenedMedia>;
  /** What a path's parts lead to: `forged` where they were altered. */
  open(file: string, expires: string, signature: string): Promise<OpenedMedia>;
  /** Deletes what has expired. */
  sweep(): Promise<void>;
}

export type OpenedMedia =
  | { state: 'forged' | 'expired' | 'missing' }
  | { state: 'found'; file: string; media: StoredMedia };

/** The path that media is served under. */
export const MEDIA_PATH = '/media';

const EXTENSIONS: Readonly<Record<string, string>> = {
  'image/png': 'png',
  'image/jpeg': 'jpg',
  'image/webp': 'webp',
  'image/gif': 'gif',
  'image/avif': 'avif',
  'video/mp4': 'mp4',
  'video/webm': 'webm',
};

export async function openMedia(dataDir: string, store: Store, clock: Clock): Promise<Media> {
  const made = await store.settings.once('mediaSecret', () => randomBytes(32).toString('base64url'));
  const secret = made.value;
  const directory = path.join(dataDir, 'media');
  const fileOf = (media: { id: string; mediaType: string }): string => path.join(directory, nameOf(media));
  const found = async (id: string): Promise<OpenedMedia> => {
    const media = await store.media.find(id);
    return media ? { state: 'found', file: fileOf(media), media } : { state: 'missing' };
  };

  return {
    async save(runId, bytes, mediaType) {
      const id = randomUUID();
      await writeDurably(fileOf({ id, mediaType }), bytes);
      return { id, runId, mediaType, size: bytes.byteLength, createdAt: clock.now() };
    },
    pathOf(output) {
      const file = nameOf({ id: output.media, mediaType: output.mediaType });
      const expires = String(Math.floor((output.createdAt + MEDIA_LIFETIME_MS) / 1000));
      return `${MEDIA_PATH}/${file}?expires=${expires}&signature=${sign(secret, file, expires)}`;
    },
    async open(file, expires, signature) {
      if (!isSameSecret(signature, sign(secret, file, expires))) return { state: 'forged' };
      if (clock.now() >= Number(expires) * 1000) return { state: 'expired' };
      return await found(path.parse(file).name);
    },
    fileUrlOf: ({ media: id, mediaType }) => pathToFileURL(fileOf({ id, mediaType })).href,
    isFile: url => url.protocol === 'file:' && path.dirname(fileURLToPath(url)) === directory,
    async openFile(url) {
      const opened = await found(path.parse(new URL(url).pathname).name);
      if (opened.state !== 'found') return opened;
      if (pathToFileURL(opened.file).href !== url) return { state: 'forged' };
      return clock.now() < opened.media.createdAt + MEDIA_LIFETIME_MS ? opened : { state: 'expired' };
    },
    async sweep() {
      const gone = await store.media.forgetBefore(clock.now() - MEDIA_LIFETIME_MS);
      for (const media of gone) await rm(fileOf(media), { force: true });
    },
  };
}

function nameOf({ id, mediaType }: { id: string; mediaType: string }): string {
  return `${id}.${EXTENSIONS[mediaType] ?? 'bin'}`;
}

function sign(secret: string, file: string, expires: string): string {
  return createHmac('sha256', secret).update(`${file}\n${expires}`).digest('base64url');
}
