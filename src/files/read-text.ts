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
export function decodedUtf8(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

/** Describes bytes that are not valid UTF-8, as the end of a sentence: `it is …`. */
export function encodingFault(bytes: Uint8Array): string {
  return isUtf16(bytes)
    ? 'UTF-16 text, as Windows PowerShell 5 writes it with >; save it as UTF-8'
    : 'not valid UTF-8 text';
}

/** Returns true for UTF-16 with a byte order mark, which Windows PowerShell 5 writes. */
export function isUtf16(bytes: Uint8Array): boolean {
  return bytes[0] === 0xff && bytes[1] === 0xfe;
}
