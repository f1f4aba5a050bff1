import { FileFault } from '../files/yaml-file.ts';

/** A prompt file taken apart. */
export interface PromptSource {
  /** Without byte-order mark, with line feeds only. */
  readonly source: string;
  /** Empty where the file has none. */
  readonly frontMatter: string;
  /** The line the front matter begins at, from 1. */
  readonly frontMatterLine: number;
  readonly template: string;
  readonly templateLine: number;
}

const FENCE = /^---[ \t]*$/;
const SKIPPED = /^[ \t]*(#.*)?$/;

/** Takes a prompt file apart into front matter and template. Comments may stand before the front matter. Throws FileFault. */
export function splitSource(text: string): PromptSource {
  const source = text.replace(/^\uFEFF/, '').replace(/\r\n?/g, '\n');
  const lines = source.split('\n');
  const open = lines.findIndex(line => !SKIPPED.test(line));
  if (open < 0 || !FENCE.test(lines[open] ?? '')) {
    return { source, ...withoutBlankEdges(lines, 0), frontMatter: '', frontMatterLine: 1 };
  }
  const close = lines.findIndex((line, index) => index > open && FENCE.test(line));
  if (close < 0) throw new FileFault(open + 1, 'the front matter is never closed: add a line `---` after it');
  return {
    source,
    frontMatter: lines.slice(open + 1, close).join('\n'),
    frontMatterLine: open + 2,
    ...withoutBlankEdges(lines, close + 1),
  };
}

/** Blank lines around the template are layout of the file, not text of the prompt. */
function withoutBlankEdges(
  lines: readonly string[],
  from: number,
): { template: string; templateLine: number } {
  const first = lines.findIndex((line, index) => index >= from && line.trim() !== '');
  if (first < 0) {
    throw new FileFault(Math.max(from, 1), 'the prompt has no template: write one below the front matter');
  }
  return { template: lines.slice(first).join('\n').trimEnd(), templateLine: first + 1 };
}
