import type { OutputItem } from '../../wire/index.ts';
import type { Connection, Context } from '../context.ts';
import { type WrittenFile, writeWhole } from './write-file.ts';

export interface MediaTarget {
  /** Absolute. */
  readonly directory: string;
  /** The file's name without its extension. */
  readonly stem: string;
  readonly force: boolean;
}

export interface SavedMedia extends WrittenFile {
  readonly sourceUrl: string;
}

/** Downloads the media of an output, without the key. @throws an Error that says what is wrong in one line */
export async function saveMedia(
  ctx: Context,
  connection: Connection,
  item: OutputItem,
  { directory, stem, force }: MediaTarget,
): Promise<SavedMedia> {
  const download = await connection.client.download(item.data, { signal: ctx.signal });
  const mediaType = mediaTypeOf(download.contentType);
  if (!fits(mediaType, item.type)) {
    await leave(download.body);
    throw new Error(`its URL gives ${mediaType}, not ${item.type === 'image' ? 'an image' : 'a video'}`);
  }
  const content = neverEmpty(download.body);
  const nameFor = async (beginning: Uint8Array): Promise<string> =>
    `${stem}.${await extensionFor(mediaType, item, beginning)}`;
  return { ...(await writeWhole(directory, nameFor, content, force)), sourceUrl: item.data };
}

async function leave(body: AsyncIterable<Uint8Array>): Promise<void> {
  await body[Symbol.asyncIterator]().return?.();
}

async function* neverEmpty(body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let empty = true;
  for await (const chunk of body) {
    empty &&= chunk.length === 0;
    yield chunk;
  }
  if (empty) throw new Error('its URL gave no bytes');
}

/** By the content type; where that says nothing, by the bytes. */
async function extensionFor(mediaType: string, item: OutputItem, beginning: Uint8Array): Promise<string> {
  const known = extensionOf(mediaType);
  if (known !== undefined) return known;
  const { fileTypeFromBuffer } = await import('file-type');
  const sniffed = await fileTypeFromBuffer(beginning);
  if (sniffed?.mime.startsWith(`${item.type}/`) === true) return sniffed.ext;
  if (!isUntold(mediaType)) return 'bin';
  if (sniffed !== undefined) throw new Error(`its URL gives ${sniffed.mime}, not ${item.type}`);
  return 'bin';
}

/** Of types that are not named as their files are. */
const EXTENSIONS: Readonly<Record<string, string>> = {
  'image/jpeg': 'jpg',
  'image/svg+xml': 'svg',
  'image/x-icon': 'ico',
  'video/quicktime': 'mov',
  'video/x-matroska': 'mkv',
  'video/mpeg': 'mpg',
  'video/ogg': 'ogv',
};

/** Types that say nothing about what the bytes are. */
const UNTOLD = new Set(['', 'application/octet-stream', 'binary/octet-stream', 'application/binary']);

/** The media type of a `Content-Type` header, without its parameters, in lower case. */
function mediaTypeOf(header: string | undefined): string {
  return (header ?? '').split(';')[0]?.trim().toLowerCase() ?? '';
}

/** Whether a header leaves open what the bytes are. */
function isUntold(mediaType: string): boolean {
  return UNTOLD.has(mediaType);
}

/** Whether bytes of this type may be what an output of type `image` or `video` names. */
function fits(mediaType: string, outputType: string): boolean {
  return isUntold(mediaType) || mediaType.startsWith(`${outputType}/`);
}

/** The extension files of a type usually have, without a dot; undefined where the type is not known. */
function extensionOf(mediaType: string): string | undefined {
  const [, own] =
    /^(?:image|video)\/(png|webp|gif|avif|apng|bmp|tiff|heic|jxl|mp4|webm)$/u.exec(mediaType) ?? [];
  return own ?? (Object.hasOwn(EXTENSIONS, mediaType) ? EXTENSIONS[mediaType] : undefined);
}
