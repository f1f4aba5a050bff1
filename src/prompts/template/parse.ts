import Handlebars from 'handlebars';
import { toError } from '../../files/error-utils.ts';
import { FileFault, faultAt, type Place } from '../../files/file-fault.ts';
import { BOUNDS } from '../bounds.ts';

export interface ParsedTemplate {
  /** Of what can be read; undefined where nothing can. */
  readonly program: hbs.AST.Program | undefined;
  /** With places counted within the template. */
  readonly faults: readonly FileFault[];
}

/** The lexer of Handlebars' parser, which its types leave out. It knows the places that messages only draw. */
interface Lexer {
  setInput(text: string): void;
  lex(): number;
  /** Of the last token. */
  readonly yylloc: { readonly first_line: number; readonly first_column: number };
}

const { lexer, terminals_: TOKENS } = (
  Handlebars as unknown as { Parser: { lexer: Lexer; terminals_: { readonly [token: number]: string } } }
).Parser;

/** How often a template is read again without what can't be read in it, and how much is read so in all. */
const MAX_FAULTS = 10;
const MAX_CHARACTERS = 256 * 1024;

/** Parses a template. A tag that can't be read is set aside, so that it does not hide the next. */
export function parseTemplate(template: string): ParsedTemplate {
  const faults: FileFault[] = [];
  const most = Math.min(MAX_FAULTS, MAX_CHARACTERS / template.length);
  for (let text = template; ; ) {
    const blocks = scanBlocks(text);
    if (blocks instanceof FileFault) return { program: undefined, faults: [...faults, blocks] };
    try {
      return { program: Handlebars.parse(text), faults };
    } catch (error) {
      const { what, at } = explain(toError(error), text, blocks);
      faults.push(faultAt(placeOf(text, at), what));
      const rest = withoutTag(text, at, blocks);
      if (rest === text || faults.length >= most) return { program: undefined, faults };
      text = rest;
    }
  }
}

interface Blocks {
  /** Where the blocks begin that are open at the end. */
  readonly open: readonly number[];
  /** Where each block that is closed begins, and where its end does. */
  readonly closed: ReadonlyMap<number, number>;
}

const OPENING = new Set(['OPEN_BLOCK', 'OPEN_INVERSE', 'OPEN_PARTIAL_BLOCK']);

/**
 * Looks at the tags of a template before it is parsed: the parser copies its whole stack for each part it reads, so
 * what stands open is bounded, and its search for blank lines is quadratic in the blanks of one run. A fault names the
 * bound that is passed.
 */
function scanBlocks(text: string): Blocks | FileFault {
  const open: { at: number; branches: number }[] = [];
  const closed = new Map<number, number>();
  const starts = lineStarts(text);
  let [branches, parentheses, invalid] = [0, 0, 0];
  lexer.setInput(text);
  for (let token = nextToken(); token !== 'EOF' && invalid <= MAX_FAULTS; token = nextToken()) {
    const { first_line: line, first_column: column } = lexer.yylloc;
    const at = (starts[line - 1] ?? 0) + column;
    if (OPENING.has(token)) open.push({ at, branches: 0 });
    const ended = token === 'OPEN_ENDBLOCK' ? open.pop() : undefined;
    if (ended) closed.set(ended.at, at);
    branches -= ended?.branches ?? 0;
    const block = open.at(-1);
    if (block && (token === 'INVERSE' || token === 'OPEN_INVERSE_CHAIN')) {
      block.branches += 1;
      branches += 1;
    }
    if (token === 'OPEN_SEXPR') parentheses += 1;
    if (token === 'CLOSE_SEXPR') parentheses -= 1;
    if (token === 'CLOSE') parentheses = 0;
    if (token === 'INVALID') invalid += 1;
    const bound = pastBound(open.length + branches, parentheses);
    if (bound !== undefined) return faultAt({ line, column: 1 }, bound);
  }
  for (const { 0: blanks, index } of text.matchAll(/\s+/g)) {
    if (blanks.length > BOUNDS.blanksInARow) {
      const { line } = placeOf(text, index);
      return faultAt({ line, column: 1 }, `there are more than ${BOUNDS.blanksInARow} blanks in a row`);
    }
  }
  return { open: open.map(({ at }) => at), closed };
}

/** The name of the next token; a text that can't be taken apart further ends here, which the parser will report. */
function nextToken(): string {
  try {
    return TOKENS[lexer.lex()] ?? 'EOF';
  } catch {
    return 'EOF';
  }
}

function pastBound(open: number, parentheses: number): string | undefined {
  const { openBlocks, openParentheses } = BOUNDS;
  if (open > openBlocks) {
    return `more than ${openBlocks} blocks and {{else}} branches are open inside each other`;
  }
  return parentheses > openParentheses
    ? `more than ${openParentheses} parentheses are open inside each other`
    : undefined;
}

type ParseError = Error & { lineNumber?: number; column?: number };

/** Handlebars lists every token it would have taken; the place is enough. */
function explain(error: ParseError, text: string, { open }: Blocks): { what: string; at: number } {
  const { message, lineNumber, column = 0 } = error;
  const starts = lineStarts(text);
  if (lineNumber !== undefined) {
    const [what = '', end] = message.replace(/ - \d+:\d+$/, '').split(" doesn't match ");
    const at = (starts[lineNumber - 1] ?? 0) + column;
    return { what: end === undefined ? what : `\`${what}\` is not ended by {{/${end}}}`, at };
  }
  const { first_line, first_column } = lexer.yylloc;
  const at = (starts[first_line - 1] ?? 0) + first_column;
  const [, got = ''] = /got '(\w+)'$/u.exec(message) ?? [];
  const isOpen = got === 'EOF' && message.includes('OPEN_ENDBLOCK');
  if (isOpen) return { what: 'this block is never closed', at: open.at(-1) ?? at };
  if (got === 'CLOSE_UNESCAPED' || got === 'CLOSE_RAW_BLOCK') {
    const what = '`}}}` ends only `{{{`: before a brace that is text, write {{name~}} }';
    return { what, at: Math.max(0, text.lastIndexOf('{{', at)) };
  }
  if (text[at] === '|') return { what: '`|` is a filter of Jinja: there are none here', at };
  const unclosed = unclosedTag(text, at);
  if (unclosed !== undefined) return { what: 'this tag is never closed', at: unclosed };
  return { what: "the template can't be read here", at };
}

/** Finds the tag around a place that ends neither before the next tag nor before the end of the text. */
function unclosedTag(text: string, at: number): number | undefined {
  const start = at > 0 ? text.lastIndexOf('{{', at - 1) : -1;
  if (start < 0) return undefined;
  const [end, next] = [text.indexOf('}}', start), text.indexOf('{{', start + 2)];
  return end < 0 || (next >= 0 && next < end) ? start : undefined;
}

/** The text with blanks in place of the tag around a place, and of its end where it opens a block. */
function withoutTag(text: string, at: number, { closed }: Blocks): string {
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

function lineStarts(text: string): number[] {
  return [0, ...Array.from(text.matchAll(/\n/g), ({ index }) => index + 1)];
}

function placeOf(text: string, at: number): Place {
  const before = text.slice(0, at).split('\n');
  return { line: before.length, column: (before.at(-1)?.length ?? 0) + 1 };
}
