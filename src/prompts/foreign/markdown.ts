import { FileFault } from '../../files/formats/file-fault.ts';
import type { JsonObject, JsonValue } from '../../files/formats/json.ts';
import { parseYaml } from '../../files/formats/yaml.ts';
import { isJsonObject } from '../../utils/bounded-json.ts';
import type { Findings } from '../findings.ts';

/** The parts of a Markdown file. */
export interface Markdown {
  /** The front matter; empty if there is none. */
  readonly frontMatter: JsonObject;
  /** The trimmed body, with LF line ends. */
  readonly body: string;
  /** The line in the file where the body begins, from 1. */
  readonly bodyLine: number;
}

/** Matches front matter between two lines `---`. */
const MARKDOWN_FRONT_MATTER = /^---[ \t]*\n(?<text>[\s\S]*?)(?:^|\n)---[ \t]*(?:\n|$)/u;

/**
 * Splits a Markdown file into front matter and body. `---` begins front matter only on the first
 * line.
 */
export function readMarkdown(
  text: string,
  { skipsBlankLines = false }: { readonly skipsBlankLines?: boolean } = {},
): Markdown {
  const normalizedText = text.replace(/^\uFEFF/u, '').replace(/\r\n?/gu, '\n');
  const blankLength = skipsBlankLines
    ? normalizedText.length - normalizedText.trimStart().length
    : 0;
  const match = MARKDOWN_FRONT_MATTER.exec(normalizedText.slice(blankLength));
  const start = match ? blankLength + match[0].length : 0;
  const afterFrontMatter = normalizedText.slice(start);
  const body = afterFrontMatter.trimStart();

  return {
    frontMatter: match ? parseFrontMatter(match.groups?.['text'] ?? '') : {},
    body: body.trimEnd(),
    bodyLine: normalizedText.slice(0, start + afterFrontMatter.length - body.length).split('\n')
      .length,
  };
}

/**
 * Parses front matter. Like other tools, takes a line such as `argument-hint: [a] [b]`, which is
 * not YAML, as text.
 */
function parseFrontMatter(text: string): JsonObject {
  try {
    const frontMatter = parseYaml(text).toJson();
    if (isJsonObject(frontMatter)) return frontMatter;
  } catch (error) {
    if (!(error instanceof FileFault)) throw error;
  }
  return Object.fromEntries(
    text.split('\n').flatMap(line => {
      const [, key, value = ''] = /^([\w-]+):(.*)$/u.exec(line) ?? [];
      return key === undefined ? [] : [[key, value.trim()] as const];
    }),
  );
}

/** Reports a file without a text. */
export function reportMissingText({ body }: Markdown, findings: Findings): void {
  if (body === '') {
    findings.addFault({ line: 1, column: 1 }, 'the prompt has no text: write one in this file');
  }
}

/**
 * Returns a value of the front matter as one line of text; undefined if it is missing or not a
 * text.
 */
export function readFrontMatterText(frontMatter: JsonObject, key: string): string | undefined {
  const value: JsonValue | undefined = Object.hasOwn(frontMatter, key)
    ? frontMatter[key]
    : undefined;
  if (typeof value !== 'string' && typeof value !== 'number') return undefined;
  const text = String(value).replace(/\s+/gu, ' ').trim();
  return text === '' ? undefined : text;
}

/** Adds a note for each line of the body that matches a pattern. */
export function noteMatchingLines(
  { body, bodyLine }: Pick<Markdown, 'body' | 'bodyLine'>,
  pattern: RegExp,
  findings: Findings,
  describeMatch: (match: string) => string,
): void {
  for (const [index, line] of body.split('\n').entries()) {
    const match = pattern.exec(line);
    if (match) {
      findings.addNote(
        { line: bodyLine + index, column: match.index + 1 },
        describeMatch(match[0]),
      );
    }
  }
}
