import { faultAt, type Place } from '../../files/file-fault.ts';

/** A prompt file taken apart. */
export interface PromptSource {
  /** Without byte-order mark, with line feeds only. */
  readonly source: string;
  readonly frontMatter: string;
  readonly frontMatterLine: number;
  readonly template: string;
  readonly start: Place;
}

const FENCE = /^---[ \t]*$/;
const SKIPPED = /^[ \t]*(#.*)?$/;

/**
 * Takes a prompt file apart into front matter and template. Comments may stand before the front matter; blanks around
 * the template are layout then. Without front matter the whole file is the template. Throws FileFault.
 */
export function splitSource(text: string): PromptSource {
  const whole = wholeSource(text);
  const { source } = whole;
  const lines = source.split('\n');
  const open = lines.findIndex(line => !SKIPPED.test(line));
  if (open < 0 || !FENCE.test(lines[open] ?? '')) return whole;
  const close = lines.findIndex((line, index) => index > open && FENCE.test(line));
  if (close < 0) {
    const place = { line: open + 1, column: 1 };
    throw faultAt(place, 'the front matter is never closed: add a line `---` after it');
  }
  return {
    source,
    frontMatter: lines.slice(open + 1, close).join('\n'),
    frontMatterLine: open + 2,
    ...trimmed(lines.slice(close + 1), close + 2),
  };
}

/** Keys by which front matter is known if the line before it is missing. */
const FRONT_MATTER_KEY = /^(?:model|config|input|output|title|description)[ \t]*:/;

/** Returns true if a file has front matter, and the line that ends it, but not the line `---` that begins it. */
export function lacksOpeningFence(source: string): boolean {
  const lines = source.split('\n');
  const first = lines.findIndex(line => !SKIPPED.test(line));
  const close = lines.findIndex(line => FENCE.test(line));
  return first >= 0 && close > first && lines.slice(first, close).some(line => FRONT_MATTER_KEY.test(line));
}

/** A file that is nothing but a template. */
export function wholeSource(text: string): PromptSource {
  const source = text.replace(/^\uFEFF/, '').replace(/\r\n?/g, '\n');
  return { source, frontMatter: '', frontMatterLine: 1, template: source, start: { line: 1, column: 1 } };
}

function trimmed(lines: readonly string[], firstLine: number): { template: string; start: Place } {
  const body = lines.join('\n');
  const blank = body.slice(0, body.length - body.trimStart().length);
  const column = blank.length - blank.lastIndexOf('\n');
  return { template: body.trim(), start: { line: firstLine + blank.split('\n').length - 1, column } };
}
