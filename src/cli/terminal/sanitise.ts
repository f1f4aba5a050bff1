import { isDeviceName } from '../../files/writing/device-name.ts';

/**
 * Matches C0 without tab and newline, DEL, C1, and the characters that reorder text.
 */
const CONTROL_CHARACTER =
  // oxlint-disable-next-line no-control-regex -- these are what this file is about
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/gu;

/** Matches the controls that no sequence of the program's own, such as a colour, contains. */
const HIDDEN_CONTROL_CHARACTER = /[\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/gu;

/** Maximum length of a file name without its ending, in bytes of UTF-8. */
const MAX_NAME_BYTES = 80;

/**
 * Makes every control character of a text visible, except tab and newline, so that the text can't
 * drive a terminal.
 */
export function escapeControls(text: string): string {
  return text.replace(CONTROL_CHARACTER, toVisibleCharacter);
}

/**
 * Escapes DEL, C1 controls and bidirectional controls as JSON does, so that JSON keeps its value.
 */
export function withoutHiddenControls(text: string): string {
  return text.replace(HIDDEN_CONTROL_CHARACTER, escapeJsonUnit);
}

/** Escapes everything but ASCII as JSON does, so that JSON keeps its value in any code page. */
export function escapeNonAscii(json: string): string {
  return json.replace(/[\u0080-\uffff]/g, escapeJsonUnit);
}

/** Returns the escape of one UTF-16 code unit. */
function escapeJsonUnit(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

/** Returns a text on one line without tabs, for a cell of a table or of tab-separated values. */
export function toOneLine(text: string): string {
  return escapeControls(text.replace(/\s+/gu, toBlankIfBroken).replaceAll('\t', ' '));
}

/** Returns a blank for white space with a line break, and other white space unchanged. */
function toBlankIfBroken(space: string): string {
  return /[\r\n\u2028\u2029]/u.test(space) ? ' ' : space;
}

/**
 * Returns a text as a path segment that is harmless on every platform; never empty, `.` or `..`.
 */
export function toSafeFileName(text: string): string {
  const harmlessText = text
    .normalize('NFC')
    .replace(CONTROL_CHARACTER, '_')
    .replace(/[\s/\\:*?"<>|]+/gu, '_')
    .replace(/^[.\-_ ]+|(?<![. ])[. ]+$/gu, '')
    .replace(/\p{Surrogate}/gu, '_');
  const name = cutToBytes(harmlessText, MAX_NAME_BYTES);
  return name === '' || name.startsWith('.') || isDeviceName(name) ? `_${name}` : name;
}

/** Cuts a text to a maximum number of bytes of UTF-8, without splitting a character. */
function cutToBytes(text: string, maxBytes: number): string {
  const bytes = Buffer.from(text);
  let end = Math.min(maxBytes, bytes.length);
  while (((bytes[end] ?? 0) & 0xc0) === 0x80) end -= 1;
  return bytes.toString('utf8', 0, end);
}

function toVisibleCharacter(character: string): string {
  const code = character.charCodeAt(0);
  if (code < 0x20) return `^${String.fromCharCode(code + 0x40)}`;
  if (code === 0x7f) return '^?';
  return escapeJsonUnit(character);
}
