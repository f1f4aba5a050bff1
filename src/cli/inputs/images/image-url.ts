import { usageError } from '../../core/errors.ts';

/**
 * Returns the bytes of a data URL, or an https URL unchanged.
 *
 * @throws {CliError} USAGE_ERROR for any other URL, and for invalid data
 */
export function readImageUrl(source: string): Buffer | string {
  if (/^data:/iu.test(source)) return decodeDataUrl(source);
  if (!URL.canParse(source)) throw usageError(`image ${source} is not a valid URL`);
  if (new URL(source).protocol === 'https:') return source;
  throw usageError(
    `image ${source} is not an https URL; the service takes no other`,
    'Download the image and give the file instead.',
  );
}

function decodeDataUrl(source: string): Buffer {
  const commaIndex = source.indexOf(',');
  if (commaIndex === -1) throw usageError('the data URL has no comma, and so no data');

  const head = source.slice(0, commaIndex);
  const data = source.slice(commaIndex + 1);
  if (!/;base64$/iu.test(head)) return Buffer.from(decodePercent(data), 'latin1');

  const base64 = data.replace(/\s+/gu, '');
  if (!/^[A-Za-z0-9+/]*={0,2}$/u.test(base64) || base64.replace(/={1,2}$/u, '').length % 4 === 1) {
    throw usageError('the data URL does not contain valid base64');
  }

  return Buffer.from(base64, 'base64');
}

/** Decodes percent-encoded bytes to one character each. */
function decodePercent(data: string): string {
  return data.replace(/%([0-9a-f]{2})/giu, (_, hex: string) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  );
}
