/** A picture given as an input, known to be one by its content. */
export interface LoadedImage {
  readonly bytes: Buffer;
  /** For example `image/png`. */
  readonly mediaType: string;
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
