import type { OutputItem } from '../../../wire/index.ts';
import type { Connection, Context } from '../../context.ts';
import { type WrittenFile, writeWhole } from './write-file.ts';

/** The file for an output. */
export interface OutputDestination {
  /** The absolute path. */
  readonly directory: string;
  /** The file's name without its extension. */
  readonly stem: string;
  /** True to overwrite an existing file. */
  readonly force: boolean;
}

/** Matches a type whose extension is the second part of its name, such as `image/png`. */
const SELF_NAMED_MEDIA_TYPE =
  /^(?:image|video)\/(png|webp|gif|avif|apng|bmp|tiff|heic|jxl|mp4|webm)$/u;

/** Generic types that don't describe the bytes. */
const GENERIC_TYPES = new Set([
  '',
  'application/octet-stream',
  'binary/octet-stream',
  'application/binary',
]);

/**
 * Downloads the media of an output, without the key.
 *
 * @throws {Error} with a message of one line
 */
export async function saveMedia(
  ctx: Context,
  connection: Connection,
  item: OutputItem,
  { directory, stem, force }: OutputDestination,
): Promise<WrittenFile> {
  const { contentType, body } = await connection.client.download(item.data, { signal: ctx.signal });
  const mediaType = (contentType ?? '').split(';')[0]?.trim().toLowerCase() ?? '';
  if (!GENERIC_TYPES.has(mediaType) && !mediaType.startsWith(`${item.type}/`)) {
    await body[Symbol.asyncIterator]().return?.();
    const expectedType = item.type === 'image' ? 'an image' : 'a video';
    throw new Error(`its URL returns ${mediaType}, not ${expectedType}`);
  }

  const chooseName = async (beginning: Uint8Array): Promise<string> =>
    `${stem}.${await chooseExtension(mediaType, item, beginning)}`;
  return writeWhole(directory, chooseName, requireBytes(body), { force });
}

async function* requireBytes(body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let isEmpty = true;
  for await (const chunk of body) {
    isEmpty &&= chunk.length === 0;
    yield chunk;
  }
  if (isEmpty) throw new Error('its URL returned no bytes');
}

/** Returns the extension for the content type or, if that is generic, for the bytes. */
async function chooseExtension(
  mediaType: string,
  item: OutputItem,
  firstBytes: Uint8Array,
): Promise<string> {
  const extension = findUsualExtension(mediaType);
  if (extension !== undefined) return extension;

  const { fileTypeFromBuffer } = await import('file-type');
  const detectedType = await fileTypeFromBuffer(firstBytes);
  if (detectedType?.mime.startsWith(`${item.type}/`) === true) return detectedType.ext;
  if (detectedType === undefined || !GENERIC_TYPES.has(mediaType)) return 'bin';

  throw new Error(`its URL returns ${detectedType.mime}, not ${item.type}`);
}

/** The extensions of types that differ from the type's name. */
const SAVED_EXTENSIONS: Readonly<Record<string, string>> = {
  'image/jpeg': 'jpg',
  'image/svg+xml': 'svg',
  'image/x-icon': 'ico',
  'video/quicktime': 'mov',
  'video/x-matroska': 'mkv',
  'video/mpeg': 'mpg',
  'video/ogg': 'ogv',
};

/** Returns the usual extension of a type, without a dot; undefined if the type is unknown. */
function findUsualExtension(mediaType: string): string | undefined {
  const [, sameName] = SELF_NAMED_MEDIA_TYPE.exec(mediaType) ?? [];
  if (sameName !== undefined) return sameName;
  return Object.hasOwn(SAVED_EXTENSIONS, mediaType) ? SAVED_EXTENSIONS[mediaType] : undefined;
}
