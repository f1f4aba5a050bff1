import { type FilePosition, faultAt } from '../../files/formats/file-fault.ts';

/** A prompt file, split into front matter and template. */
export interface PromptSource {
  /** The file without a byte-order mark and with LF line ends. */
  readonly source: string;
  readonly frontMatter: string;
  readonly frontMatterLine: number;
  readonly template: string;
  readonly start: FilePosition;
}

const FENCE = /^---[ \t]*$/;
const BLANK_OR_COMMENT = /^[ \t]*(#.*)?$/;

/**
 * Splits a prompt file into front matter and template. Comments may precede the front matter.
 * Blanks around the template are dropped if there is front matter; otherwise the whole file is the
 * template.
 *
 * @throws {FileFault} if the front matter is never closed
 */
export function splitSource(text: string): PromptSource {
  const wholeFile = toTemplateSource(text);
  const { source } = wholeFile;
  const lines = source.split('\n');
  const openingIndex = lines.findIndex(line => !BLANK_OR_COMMENT.test(line));
  if (openingIndex < 0 || !FENCE.test(lines[openingIndex] ?? '')) return wholeFile;

  const closingIndex = lines.findIndex((line, index) => index > openingIndex && FENCE.test(line));
  if (closingIndex < 0) {
    const place = { line: openingIndex + 1, column: 1 };
    throw faultAt(place, 'the front matter is never closed: add a line `---` after it');
  }

  return {
    source,
    frontMatter: lines.slice(openingIndex + 1, closingIndex).join('\n'),
    frontMatterLine: openingIndex + 2,
    ...trimTemplate(lines.slice(closingIndex + 1), closingIndex + 2),
  };
}

/** Keys that identify front matter whose opening line is missing. */
const FRONT_MATTER_KEY = /^(?:model|config|input|output|title|description)[ \t]*:/;

/** Returns true if a file has front matter and its closing `---`, but lacks the opening `---`. */
export function lacksOpeningFence(source: string): boolean {
  const lines = source.split('\n');
  const firstIndex = lines.findIndex(line => !BLANK_OR_COMMENT.test(line));
  const closingIndex = lines.findIndex(line => FENCE.test(line));

  return (
    firstIndex >= 0 &&
    closingIndex > firstIndex &&
    lines.slice(firstIndex, closingIndex).some(line => FRONT_MATTER_KEY.test(line))
  );
}

/** Describes a file for which `lacksOpeningFence` is true. */
export function describeMissingFence(file: string): string {
  return `note: ${file} lacks the line --- before its front matter, which goes to the model as text`;
}

/** Returns the source of a file that is only a template. */
export function toTemplateSource(text: string): PromptSource {
  const source = text.replace(/^\uFEFF/, '').replace(/\r\n?/g, '\n');
  return {
    source,
    frontMatter: '',
    frontMatterLine: 1,
    template: source,
    start: { line: 1, column: 1 },
  };
}

function trimTemplate(
  lines: readonly string[],
  firstLine: number,
): { template: string; start: FilePosition } {
  const body = lines.join('\n');
  const leadingBlanks = body.slice(0, body.length - body.trimStart().length);
  const column = leadingBlanks.length - leadingBlanks.lastIndexOf('\n');
  return {
    template: body.trim(),
    start: { line: firstLine + leadingBlanks.split('\n').length - 1, column },
  };
}
