import Handlebars from 'handlebars';
import { toError } from '../../../files/error-utils.ts';
import { type FileFault, faultAt, type Place } from '../../files/yaml-file.ts';
import { scanTags, type TagScan } from './open-tags.ts';

export interface ParsedTemplate {
  /** Of what can be read; undefined where nothing can. */
  readonly program: hbs.AST.Program | undefined;
  /** With places counted within the template. */
  readonly faults: readonly FileFault[];
}

/** How often a template is read again without what can't be read in it, and how much is read so in all. */
const MAX_FAULTS = 10;
const MAX_CHARACTERS = 256 * 1024;

/** Parses a template. A tag that can't be read is set aside, so that it does not hide the next. */
export function parseTemplate(template: string): ParsedTemplate {
  const faults: FileFault[] = [];
  const most = Math.min(MAX_FAULTS, MAX_CHARACTERS / template.length);
  for (let text = template; ; ) {
    const scan = scanTags(text);
    if (scan.past) {
      const past = faultAt({ line: scan.past.line, column: 1 }, scan.past.message);
      return { program: undefined, faults: [...faults, past] };
    }
    try {
      return { program: Handlebars.parse(text), faults };
    } catch (error) {
      const { what, at } = explain(toError(error), text, scan);
      faults.push(faultAt(placeOf(text, at), what));
      const rest = withoutTag(text, at, scan);
      if (rest === text || faults.length >= most) return { program: undefined, faults };
      text = rest;
    }
  }
}

type ParseError = Error & { lineNumber?: number; column?: number };

/** Handlebars draws a picture of the place and lists every token it would have taken; the place is enough. */
function explain(error: ParseError, text: string, { open }: TagScan): { what: string; at: number } {
  const [first = '', ...rest] = error.message.split('\n');
  const expected = rest.at(-1) ?? '';
  const line = error.lineNumber ?? Number(/on line (\d+)/.exec(first)?.[1] ?? 1);
  const start = offsetOf(text, line);
  if (expected.includes('OPEN_ENDBLOCK') && expected.includes("got 'EOF'")) {
    return { what: 'this block is never closed', at: open.at(-1) ?? start };
  }
  if (/^(Parse|Lexical) error/.test(first)) {
    const at = placeShown(text, start, rest);
    if (/got 'CLOSE_(?:UNESCAPED|RAW_BLOCK)'/u.test(expected)) {
      const what = '`}}}` ends only `{{{`: before a brace that is text, write {{name~}} }';
      return { what, at: Math.max(0, text.lastIndexOf('{{', at)) };
    }
    if (text[at] === '|') return { what: '`|` is a filter of Jinja: there are none here', at };
    const unclosed = unclosedTag(text, at);
    if (unclosed !== undefined) return { what: 'this tag is never closed', at: unclosed };
    return { what: 'the template can’t be read here', at };
  }
  const message = first.replace(/ - \d+:\d+$/, '');
  const [block = '', end] = message.split(" doesn't match ");
  const what = end === undefined ? message : `\`${block}\` is not ended by {{/${end}}}`;
  return { what, at: start + (error.column ?? 0) };
}

/** The tag before one that can't begin yet. */
function unclosedTag(text: string, at: number): number | undefined {
  const start = text.startsWith('{{', at) && at > 0 ? text.lastIndexOf('{{', at - 1) : -1;
  return start < 0 || text.slice(start, at).includes('}}') ? undefined : start;
}

/**
 * The picture is a piece of the text without its line breaks, with a pointer below the place that can't be read, which
 * is at `start` or soon after it.
 */
function placeShown(text: string, start: number, [shown = '', pointer = '']: readonly string[]): number {
  const before = shown.slice(shown.startsWith('...') ? 3 : 0, pointer.length - 1);
  const after = shown.slice(pointer.length - 1, pointer.length + 9);
  const joined = (from: number, to: number): string => text.slice(Math.max(0, from), to).replaceAll('\n', '');
  for (let at = start; at <= Math.min(text.length, start + MAX_SEARCH); at += 1) {
    if (text.startsWith(after.slice(0, 1), at) && joined(at - 40, at).endsWith(before)) {
      const next = joined(at, at + 20);
      if (next.startsWith(after) || (next !== '' && after.startsWith(next))) return at;
    }
  }
  return start;
}

/** Characters from the line that is named to the place that is meant. */
const MAX_SEARCH = 10_000;

/** The text with blanks in place of the tag around a place, and of its end where it opens a block. */
function withoutTag(text: string, at: number, { closed }: TagScan): string {
  const start = text.lastIndexOf('{{', at + 1);
  if (start < 0) return text;
  const end = closed.get(start);
  const rest = blanked(text, start, Math.max(at, start + 2));
  return end === undefined ? rest : blanked(rest, end, end + 2);
}

/** Up to the end of the tag, or to the next one where it has none. */
function blanked(text: string, start: number, from: number): string {
  const [close, next] = [text.indexOf('}}', from), text.indexOf('{{', from)];
  const isClosed = close >= 0 && (next < 0 || close < next);
  const end = isClosed ? close + 2 : next < 0 ? text.length : next;
  return text.slice(0, start) + text.slice(start, end).replace(/[^\n]/g, ' ') + text.slice(end);
}

function offsetOf(text: string, line: number): number {
  let start = 0;
  for (let here = 1; here < line; here += 1) {
    const end = text.indexOf('\n', start);
    if (end < 0) break;
    start = end + 1;
  }
  return start;
}

function placeOf(text: string, at: number): Place {
  const before = text.slice(0, at).split('\n');
  return { line: before.length, column: (before.at(-1)?.length ?? 0) + 1 };
}
