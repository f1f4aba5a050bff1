import { FileFault } from '../../files/formats/file-fault.ts';
import type { JsonObject, JsonValue } from '../../files/formats/json.ts';
import { parseYaml } from '../../files/formats/yaml.ts';
import { isJsonObject } from '../../utils/bounded-json.ts';
import type { Findings } from '../findings.ts';

/** The parts of a Markdown file. */
export interface Markdown {
  /** The front matter; empty if there is none. */
  readonly head: JsonObject;
  /** The trimmed body, with LF line ends. */
  readonly body: string;
  /** The first line of the body in the file, from 1. */
  readonly bodyLine: number;
}

const MARKDOWN_HEAD = /^---[ \t]*\n(?<head>[\s\S]*?)(?:^|\n)---[ \t]*(?:\n|$)/u;

/**
 * Splits a Markdown file into front matter and body. `---` begins front matter only on the first
 * line.
 */
export function readMarkdown(
  text: string,
  { skipsBlankLines = false }: { readonly skipsBlankLines?: boolean } = {},
): Markdown {
  const normalizedText = text.replace(/^\uFEFF/u, '').replace(/\r\n?/gu, '\n');
  const blank = skipsBlankLines ? normalizedText.length - normalizedText.trimStart().length : 0;
  const match = MARKDOWN_HEAD.exec(normalizedText.slice(blank));
  const start = match ? blank + match[0].length : 0;
  const afterHead = normalizedText.slice(start);
  const body = afterHead.trimStart();

  return {
    head: match ? parseFrontMatter(match.groups?.['head'] ?? '') : {},
    body: body.trimEnd(),
    bodyLine: normalizedText.slice(0, start + afterHead.length - body.length).split('\n').length,
  };
}

/**
 * Parses front matter. Like other tools, takes a line such as `argument-hint: [a] [b]`, which is
 * not YAML, as text.
 */
function parseFrontMatter(text: string): JsonObject {
  try {
    const head = parseYaml(text).toJson();
    if (isJsonObject(head)) return head;
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
export function readFrontMatterText(head: JsonObject, key: string): string | undefined {
  const value: JsonValue | undefined = Object.hasOwn(head, key) ? head[key] : undefined;
  if (typeof value !== 'string' && typeof value !== 'number') return undefined;
  const text = String(value).replace(/\s+/gu, ' ').trim();
  return text === '' ? undefined : text;
}

/** Notes each line of the body that matches a pattern. */
export function noteLines(
  { body, bodyLine }: Pick<Markdown, 'body' | 'bodyLine'>,
  pattern: RegExp,
  findings: Findings,
  message: (match: string) => string,
): void {
  for (const [index, line] of body.split('\n').entries()) {
    const match = pattern.exec(line);
    if (match) {
      findings.addNote({ line: bodyLine + index, column: match.index + 1 }, message(match[0]));
    }
  }
}
