/** An image input whose content has been verified to be an image. */
export interface LoadedImage {
  readonly bytes: Buffer;
  /** The media type, such as `image/png`. */
  readonly mediaType: string;
}

const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/;

/** Decodes strict base64. @throws {Error} for anything else */
export function decodeBase64(text: string): Buffer {
  if (/^\s*data:/i.test(text)) throw new Error('send the base64 alone, without a data URL prefix');
  if (!BASE64.test(text) || !hasWholeGroups(text)) throw new Error('this is not base64');
  return Buffer.from(text, 'base64');
}

/**
 * Returns true if the last group is complete. Padding may be missing, but one character alone
 * encodes nothing.
 */
function hasWholeGroups(text: string): boolean {
  return text.endsWith('=') ? text.length % 4 === 0 : text.length % 4 !== 1;
}
