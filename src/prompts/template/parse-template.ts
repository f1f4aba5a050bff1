import Handlebars from 'handlebars';
import { FileFault, type FilePosition, faultAt } from '../../files/formats/file-fault.ts';
import { toError } from '../../utils/error-utils.ts';
import { BOUNDS } from '../bounds.ts';

export interface ParsedTemplate {
  /** The syntax tree of the readable part; undefined if nothing is readable. */
  readonly program: hbs.AST.Program | undefined;
  /** The faults, with places relative to the template. */
  readonly faults: readonly FileFault[];
}

/**
 * The lexer of Handlebars' parser, which its types omit. It knows the exact places, which messages
 * only draw.
 */
interface Lexer {
  setInput(text: string): void;
  /** Returns the token's number, or its name if no rule takes it. */
  lex(): number | string;
  /** The place of the last token. */
  readonly yylloc: { readonly first_line: number; readonly first_column: number };
}

const { lexer, terminals_: TOKENS } = (
  Handlebars as unknown as {
    Parser: { lexer: Lexer; terminals_: { readonly [token: number]: string } };
  }
).Parser;

/** Maximum number of faults to report, and of characters to parse again for them. */
const MAX_FAULTS = 10;
const MAX_TEMPLATE_CHARACTERS = 256 * 1024;

/** Parses a template. Blanks out tags with faults, so that one fault does not hide the next. */
export function parseTemplate(template: string): ParsedTemplate {
  const faults: FileFault[] = [];
  const maxFaults = Math.min(MAX_FAULTS, MAX_TEMPLATE_CHARACTERS / template.length);

  for (let text = template; ; ) {
    const blocks = scanBlocks(text);
    if (blocks instanceof FileFault) return { program: undefined, faults: [...faults, blocks] };

    try {
      return { program: Handlebars.parse(text), faults };
    } catch (error) {
      const { what, at } = explainParseError(toError(error), text, blocks);
      faults.push(faultAt(getPosition(text, at), what));

      const remainder = blankOutTagAt(text, at, blocks);
      if (remainder === text || faults.length >= maxFaults) return { program: undefined, faults };
      text = remainder;
    }
  }
}

/** The offsets of the blocks' tags. */
interface BlockOffsets {
  /** The start offsets of the blocks that are still open at the end. */
  readonly open: readonly number[];
  /** The end tag's offset of each closed block, by the start offset. */
  readonly closed: ReadonlyMap<number, number>;
}

/**
 * Scans the tags of a template before parsing. The depth is limited, because the parser copies its
 * whole stack for each part. So is the number of consecutive blanks, because its search for blank
 * lines is quadratic in them. A fault names the limit.
 */
function scanBlocks(text: string): BlockOffsets | FileFault {
  const nesting = new Nesting();
  const lineStarts = listLineStarts(text);
  let invalidTokens = 0;
  lexer.setInput(text);

  let token = readNextToken();
  while (token !== 'EOF' && invalidTokens <= MAX_FAULTS) {
    if (token === 'INVALID') invalidTokens += 1;

    const { first_line: line, first_column: column } = lexer.yylloc;
    nesting.addToken(token, (lineStarts[line - 1] ?? 0) + column);
    const fault = nesting.findFault();
    if (fault !== undefined) return faultAt({ line, column: 1 }, fault);

    token = readNextToken();
  }

  return findBlanksFault(text) ?? nesting.toBlockOffsets();
}

/** Returns the name of the next token: `EOF` if the lexer rejects the text, as the parser reports. */
function readNextToken(): string {
  try {
    const token = lexer.lex();
    return typeof token === 'string' ? token : (TOKENS[token] ?? 'EOF');
  } catch {
    return 'EOF';
  }
}

/** The blocks, branches and parentheses that are open at a token. */
class Nesting {
  readonly #openBlocks: { readonly at: number; branches: number }[] = [];
  readonly #closedBlocks = new Map<number, number>();
  #branches = 0;
  #parentheses = 0;

  addToken(token: string, at: number): void {
    switch (token) {
      case 'OPEN_BLOCK':
      case 'OPEN_INVERSE':
      case 'OPEN_PARTIAL_BLOCK':
        this.#openBlocks.push({ at, branches: 0 });
        return;
      case 'OPEN_ENDBLOCK':
        return this.#closeBlock(at);
      case 'INVERSE':
      case 'OPEN_INVERSE_CHAIN':
        return this.#addBranch();
      case 'OPEN_SEXPR':
        this.#parentheses += 1;
        return;
      case 'CLOSE_SEXPR':
        this.#parentheses -= 1;
        return;
      case 'CLOSE':
        this.#parentheses = 0;
        return;
      default:
    }
  }

  #closeBlock(at: number): void {
    const block = this.#openBlocks.pop();
    if (!block) return;
    this.#closedBlocks.set(block.at, at);
    this.#branches -= block.branches;
  }

  #addBranch(): void {
    const block = this.#openBlocks.at(-1);
    if (!block) return;
    block.branches += 1;
    this.#branches += 1;
  }

  /** Explains what is open too often; undefined if nothing is. */
  findFault(): string | undefined {
    const { openBlocks, openParentheses } = BOUNDS;
    if (this.#openBlocks.length + this.#branches > openBlocks) {
      return `more than ${openBlocks} blocks and {{else}} branches are open inside each other`;
    }

    if (this.#parentheses > openParentheses) {
      return `more than ${openParentheses} parentheses are open inside each other`;
    }

    return undefined;
  }

  toBlockOffsets(): BlockOffsets {
    return { open: this.#openBlocks.map(({ at }) => at), closed: this.#closedBlocks };
  }
}

/** Returns a fault for too many blanks in a row. */
function findBlanksFault(text: string): FileFault | undefined {
  for (const { 0: blanks, index } of text.matchAll(/\s+/g)) {
    if (blanks.length <= BOUNDS.blanksInARow) continue;

    const { line } = getPosition(text, index);
    return faultAt(
      { line, column: 1 },
      `there are more than ${BOUNDS.blanksInARow} blanks in a row`,
    );
  }
  return undefined;
}

/** A fault with the offset of its place. */
interface Explanation {
  readonly what: string;
  readonly at: number;
}

/** An error of Handlebars; it has a position unless it is a syntax error. */
type ParseError = Error & { lineNumber?: number; column?: number };

/**
 * Explains a parse error by its place. Handlebars' own message lists every token that it would have
 * accepted.
 */
function explainParseError(error: ParseError, text: string, { open }: BlockOffsets): Explanation {
  const { message, lineNumber, column = 0 } = error;
  const lineStarts = listLineStarts(text);
  if (lineNumber !== undefined) {
    const at = (lineStarts[lineNumber - 1] ?? 0) + column;
    const [what = '', endName] = message.replace(/ - \d+:\d+$/, '').split(" doesn't match ");
    if (endName === undefined) return { what, at };
    return { what: `\`${what}\` is not ended by {{/${endName}}}`, at };
  }

  const { first_line, first_column } = lexer.yylloc;
  const at = (lineStarts[first_line - 1] ?? 0) + first_column;
  const [, token = ''] = /got '(\w+)'$/u.exec(message) ?? [];
  if (token === 'EOF' && message.includes('OPEN_ENDBLOCK')) {
    return { what: 'this block is never closed', at: open.at(-1) ?? at };
  }

  return explainToken(token, text, at);
}

/** Explains a token that is not allowed at its place. */
function explainToken(token: string, text: string, at: number): Explanation {
  if (token === 'CLOSE_UNESCAPED' || token === 'CLOSE_RAW_BLOCK') {
    const what = '`}}}` ends only `{{{`: before a literal brace, write {{name~}} }';
    return { what, at: Math.max(0, text.lastIndexOf('{{', at)) };
  }

  if (text[at] === '|') {
    return { what: "`|` is a filter of Jinja, which prompt files don't have", at };
  }

  const unclosed = text.startsWith('{{!--', at) ? at : findUnclosedTag(text, at);
  if (unclosed !== undefined) return { what: 'this tag is never closed', at: unclosed };

  const [tag] = /^\{\{[^{}\n]*\}\}/.exec(text.slice(at)) ?? [];
  const subject = tag === undefined ? 'this tag' : `\`${tag}\``;
  if (token === 'OPEN_ENDBLOCK') {
    return { what: `${subject} ends a block that was never opened`, at };
  }

  if (token === 'INVERSE' || token === 'OPEN_INVERSE_CHAIN') {
    return { what: `${subject} is not inside a block`, at };
  }

  if (token === 'CLOSE') return { what: 'this tag is empty, or its last part has no value', at };

  return explainOperator(text, at);
}

/** Explains an operator, which no tag may have. */
function explainOperator(text: string, at: number): Explanation {
  // The lexer takes the first `=` of `a == b` for one between a key and its value.
  const start = text[at] === '=' && text[at - 1] === '=' ? at - 1 : at;
  const [operator] = /^(?:[<>]=?|[=!]=*|&+|[-+*/%])/.exec(text.slice(start, start + 3)) ?? [];
  if (operator === undefined) return { what: explainTag(text, at), at };

  const what = `\`${operator}\` isn't allowed in a tag: a template doesn't calculate, and only {{#ifEquals a b}} and {{#unlessEquals a b}} compare`;
  return { what, at: start };
}

/** Explains an unreadable tag; one of Go's templates by its language. */
function explainTag(text: string, at: number): string {
  const [tag, name] =
    /^\{\{[ \t]*\.(\w+)[ \t]*\}\}/u.exec(text.slice(text.lastIndexOf('{{', at))) ?? [];
  if (tag === undefined) return "the template can't be read here";

  return `\`${tag}\` is a tag of Go's templates, which prompt files don't have: write {{${name}}}`;
}

/** Finds the start of the tag around a place; undefined if it is closed before the next tag. */
function findUnclosedTag(text: string, at: number): number | undefined {
  const start = at > 0 ? text.lastIndexOf('{{', at - 1) : -1;
  if (start < 0) return undefined;

  const end = text.indexOf('}}', start);
  const nextStart = text.indexOf('{{', start + 2);
  const isUnclosed = end < 0 || (nextStart >= 0 && nextStart < end);
  return isUnclosed ? start : undefined;
}

/** Replaces the tag around a place with blanks, and the end tag too if it opens a block. */
function blankOutTagAt(text: string, at: number, { closed }: BlockOffsets): string {
  const start = text.lastIndexOf('{{', at + 1);
  if (start < 0) return text;

  const blanked = blankOutTag(text, start, Math.max(at, start + 2));
  const endTag = closed.get(start);
  return endTag === undefined ? blanked : blankOutTag(blanked, endTag, endTag + 2);
}

/**
 * Blanks out a tag up to its end, or up to the next tag if it is not closed. Both are looked for
 * from `searchStart`.
 */
function blankOutTag(text: string, start: number, searchStart: number): string {
  const close = text.indexOf('}}', searchStart);
  const nextStart = text.indexOf('{{', searchStart);
  const limit = nextStart < 0 ? text.length : nextStart;
  const isClosed = close >= 0 && close < limit;
  const end = isClosed ? close + 2 : limit;

  const blanks = text.slice(start, end).replace(/[^\n]/g, ' ');
  return text.slice(0, start) + blanks + text.slice(end);
}

function listLineStarts(text: string): number[] {
  return [0, ...Array.from(text.matchAll(/\n/g), ({ index }) => index + 1)];
}

function getPosition(text: string, at: number): FilePosition {
  const before = text.slice(0, at).split('\n');
  return { line: before.length, column: (before.at(-1)?.length ?? 0) + 1 };
}
