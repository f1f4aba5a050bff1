// C0 without tab and newline, DEL, C1, and the characters that reorder text.
const HOSTILE =
  // oxlint-disable-next-line no-control-regex -- these are what this file is about
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/gu;
// None of these is part of a sequence that the program itself writes, such as a colour.
const NEVER_MEANT = /[\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/gu;
const LONGEST_FILE_NAME = 80;

/** The text with every control character but tab and newline made visible, so that it can't drive a terminal. */
export function visible(text: string): string {
  return text.replace(HOSTILE, shown);
}

/** The text with DEL, C1 controls and what reorders text escaped as in JSON, which keeps JSON equal in value. */
export function withoutHiddenControls(text: string): string {
  return text.replace(
    NEVER_MEANT,
    character => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

/** The text on one line without tabs, fit for a cell of a table or of tab-separated values. */
export function oneLine(text: string): string {
  return visible(text.replace(/\s+/gu, joinLines).replaceAll('\t', ' '));
}

const joinLines = (space: string): string => (/[\r\n\u2028\u2029]/u.test(space) ? ' ' : space);

/** The text as one segment of a path that is harmless on every platform; never empty, `.` or `..`. */
export function safeFileName(text: string): string {
  const name = text
    .normalize('NFC')
    .replace(HOSTILE, '_')
    .replace(/[\s/\\:*?"<>|]+/gu, '_')
    .replace(/^[.\-_ ]+|(?<![. ])[. ]+$/gu, '')
    .slice(0, LONGEST_FILE_NAME)
    .replace(/\p{Surrogate}/gu, '_');
  return /^(con|prn|aux|nul|com\d|lpt\d)?(\.|$)/iu.test(name) ? `_${name}` : name;
}

function shown(character: string): string {
  const code = character.charCodeAt(0);
  if (code < 0x20) return `^${String.fromCharCode(code + 0x40)}`;
  if (code === 0x7f) return '^?';
  return `\\u${code.toString(16).padStart(4, '0')}`;
}
