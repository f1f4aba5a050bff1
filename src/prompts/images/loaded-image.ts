/** A picture given as an input, known to be one by its content. */
export interface LoadedImage {
  readonly bytes: Buffer;
  /** For example `image/png`. */
  readonly mediaType: string;
}

const PNG_SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);

/** The media type of a picture by its content; undefined for anything else. SVG is a program, not a picture. */
export async function imageType(bytes: Buffer): Promise<string | undefined> {
  // Known by its first bytes, so that one cut short is still called what it is.
  if (bytes.subarray(0, PNG_SIGNATURE.length).equals(PNG_SIGNATURE)) return 'image/png';
  const { fileTypeFromBuffer } = await import('file-type');
  const type = await fileTypeFromBuffer(bytes);
  return type?.mime.startsWith('image/') && type.mime !== 'image/svg+xml' ? type.mime : undefined;
}

const ALPHABET = /^[A-Za-z0-9+/]*={0,2}$/;

/** Decodes base64 and nothing that merely looks like it. Throws Error. */
export function decodeBase64(text: string): Buffer {
  if (/^\s*data:/i.test(text)) throw new Error('send the base64 alone, without a data URL prefix');
  if (!ALPHABET.test(text) || !hasWholeGroups(text)) throw new Error('this is not base64');
  return Buffer.from(text, 'base64');
}

/** Padding may be left out, but four characters are one group and a group of one says nothing. */
function hasWholeGroups(text: string): boolean {
  return text.endsWith('=') ? text.length % 4 === 0 : text.length % 4 !== 1;
}
