import { FileFault } from '../../files/file-fault.ts';
import type { JsonObject, JsonValue } from '../../files/json.ts';
import { parseYaml } from '../../files/yaml.ts';
import { isJsonObject } from '../../wire/bounded-json.ts';
import type { Findings } from '../findings.ts';

/** A Markdown file taken apart. */
export interface Markdown {
  /** What its front matter says; empty if it has none. */
  readonly head: JsonObject;
  /** What follows, with line feeds only and without blanks around it. */
  readonly body: string;
  /** The line of the file on which the body begins, from 1. */
  readonly bodyLine: number;
}

const FRONT_MATTER = /^---[ \t]*\n(?<head>[\s\S]*?)(?:^|\n)---[ \t]*(?:\n|$)/u;

/** Takes a Markdown file apart. Only a first line of `---` begins front matter: further down it is a rule. */
export function readMarkdown(text: string): Markdown {
  const whole = text.replace(/^\uFEFF/u, '').replace(/\r\n?/gu, '\n');
  const match = FRONT_MATTER.exec(whole);
  const start = match?.[0].length ?? 0;
  const rest = whole.slice(start);
  const body = rest.trimStart();
  return {
    head: match ? headOf(match.groups?.['head'] ?? '') : {},
    body: body.trimEnd(),
    bodyLine: whole.slice(0, start + rest.length - body.length).split('\n').length,
  };
}

/** Tools that read these files take a line such as `argument-hint: [a] [b]` for a text, although YAML doesn't. */
function headOf(text: string): JsonObject {
  try {
    const head = parseYaml(text).json();
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

/** A value of front matter as one line of text; undefined for nothing, and for what is no text. */
export function textIn(head: JsonObject, key: string): string | undefined {
  const value: JsonValue | undefined = Object.hasOwn(head, key) ? head[key] : undefined;
  if (typeof value !== 'string' && typeof value !== 'number') return undefined;
  const text = String(value).replace(/\s+/gu, ' ').trim();
  return text === '' ? undefined : text;
}

/** Reports where a pattern stands in the body, once for each line. */
export function noteLines(
  { body, bodyLine }: Markdown,
  pattern: RegExp,
  findings: Findings,
  message: (found: string) => string,
): void {
  for (const [at, line] of body.split('\n').entries()) {
    const match = pattern.exec(line);
    if (match) findings.note({ line: bodyLine + at, column: match.index + 1 }, message(match[0]));
  }
}
