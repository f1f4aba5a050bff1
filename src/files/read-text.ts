import { readFileSync } from 'node:fs';

/** Reads a text file; undefined if there is none, or it can't be read. */
export function readIfReadable(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}

/** Decodes UTF-8 without its byte order mark; undefined if the bytes are not valid UTF-8. */
export function decodeUtf8(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

const PNG_SIGNATURE = '89504e470d0a1a0a';

/** The usual files that are not text, by the beginning of their bytes in hexadecimal. */
const BINARY_FILES = [
  [PNG_SIGNATURE, 'a PNG picture'],
  ['ffd8ff', 'a JPEG picture'],
  ['25504446', 'a PDF'],
  ['504b0304', 'a ZIP archive'],
] as const;

/** Returns the kind of a usual file that is not text, with its article; undefined for any other. */
export function detectBinaryKind(bytes: Uint8Array): string | undefined {
  const beginning = readBeginningAsHex(bytes);
  return BINARY_FILES.find(([signature]) => beginning.startsWith(signature))?.[1];
}

/** Returns true if bytes begin like a PNG, even if the rest is missing. */
export function isPng(bytes: Uint8Array): boolean {
  return readBeginningAsHex(bytes) === PNG_SIGNATURE;
}

function readBeginningAsHex(bytes: Uint8Array): string {
  return Buffer.from(bytes.subarray(0, PNG_SIGNATURE.length / 2)).toString('hex');
}

/** Describes bytes that are not valid UTF-8, as the end of a sentence: `it is …`. */
export function describeEncodingFault(bytes: Uint8Array): string {
  if (isUtf16(bytes)) {
    return 'UTF-16 text, as Windows PowerShell 5 writes it with >; save it as UTF-8';
  }
  const kind = detectBinaryKind(bytes);
  return kind ? `${kind}, not text` : 'not valid UTF-8 text; save it as UTF-8';
}

/** Returns true for UTF-16 with a byte order mark, which Windows PowerShell 5 writes. */
export function isUtf16(bytes: Uint8Array): boolean {
  return bytes[0] === 0xff && bytes[1] === 0xfe;
}
