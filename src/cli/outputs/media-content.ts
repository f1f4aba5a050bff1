import { createHash } from 'node:crypto';
import { readFile, stat } from 'node:fs/promises';
import { isMedia, type Run } from '../../wire/index.ts';
import type { Connection } from '../context.ts';

/** Maximum size of an image or video on a page, in bytes. */
export const MAX_PAGE_MEDIA_BYTES = 8 * 1024 * 1024;

/** The types of media that browsers show. */
const PAGE_MEDIA_TYPES = new Set([
  'image/png',
  'image/jpeg',
  'image/webp',
  'image/gif',
  'image/avif',
  'video/mp4',
  'video/webm',
]);

/** The content of an image or video output. */
export interface MediaContent {
  /** The digest in hexadecimal. */
  readonly sha256: string;
  /** The data URL for pages; undefined if it is too large, or a type that browsers don't show. */
  readonly dataUrl?: string;
}

interface FetchMediaOptions {
  /** True to encode the media for a page, too. */
  readonly isForPage: boolean;
  readonly signal: AbortSignal;
}

/** Maps the URL of each output of runs to its content; leaves out those that can't be fetched. */
export async function fetchRunMedia(
  { client }: Connection,
  runs: readonly Run[],
  options: FetchMediaOptions,
): Promise<Map<string, MediaContent>> {
  const media = new Map<string, MediaContent>();
  for (const { data: url } of runs.flatMap(({ outputs }) => outputs.filter(isMedia))) {
    const content = await fetchMedia(client, url, options).catch(() => undefined);
    options.signal.throwIfAborted();
    if (content !== undefined) media.set(url, content);
  }
  return media;
}

/** Downloads an image or video. Hashes it whole, whatever its size. */
async function fetchMedia(
  client: Connection['client'],
  url: string,
  { isForPage, signal }: FetchMediaOptions,
): Promise<MediaContent> {
  const { body } = await client.download(url, { signal });
  const hash = createHash('sha256');
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body) {
    hash.update(chunk);
    size += chunk.length;
    if (isForPage && size <= MAX_PAGE_MEDIA_BYTES) chunks.push(chunk);
  }

  const fitsOnPage = isForPage && size <= MAX_PAGE_MEDIA_BYTES;
  const dataUrl = fitsOnPage ? await encodeMediaDataUrl(Buffer.concat(chunks)) : undefined;
  return { sha256: hash.digest('hex'), ...(dataUrl !== undefined && { dataUrl }) };
}

/** Downloads an image or video; undefined if it has more than `maxBytes`. */
export async function readMedia(
  client: Connection['client'],
  url: string,
  { maxBytes, signal }: { readonly maxBytes: number; readonly signal: AbortSignal },
): Promise<Buffer | undefined> {
  const { body } = await client.download(url, { signal });
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body) {
    size += chunk.length;
    if (size > maxBytes) return undefined;
    chunks.push(chunk);
  }

  return Buffer.concat(chunks);
}

/**
 * Returns a saved file as a `data:` URL; undefined if it is not an image or video, or too large
 * for a page.
 */
export async function readDataUrl(file: string): Promise<string | undefined> {
  const stats = await stat(file);
  return stats.isFile() && stats.size <= MAX_PAGE_MEDIA_BYTES
    ? encodeMediaDataUrl(await readFile(file))
    : undefined;
}

/**
 * Returns a `data:` URL whose type is detected from the bytes, because a stated type may be wrong.
 */
async function encodeMediaDataUrl(bytes: Buffer): Promise<string | undefined> {
  const { fileTypeFromBuffer } = await import('file-type');
  const { mime = '' } = (await fileTypeFromBuffer(bytes)) ?? {};
  return PAGE_MEDIA_TYPES.has(mime) ? `data:${mime};base64,${bytes.toString('base64')}` : undefined;
}
