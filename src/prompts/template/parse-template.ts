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

/** Maximum number of faults to report. */
const MAX_FAULTS = 10;

/** Maximum number of characters to parse, again for each fault. */
const MAX_REPARSED_CHARACTERS = 256 * 1024;

/** Matches an operator of other languages, such as `==`, `<=`, `&&` and `+`. */
const OPERATOR = /^(?:[<>]=?|[=!]=*|&+|[-+*/%])/;

/** Matches a tag of Go's templates, such as `{{ .Name }}`. */
const GO_TAG = /^\{\{[ \t]*\.(\w+)[ \t]*\}\}/u;

/** Parses a template. Blanks out tags with faults, so that one fault does not hide the next. */
export function parseTemplate(template: string): ParsedTemplate {
  const faults: FileFault[] = [];
  const maxFaults = Math.min(MAX_FAULTS, MAX_REPARSED_CHARACTERS / template.length);

  let text = template;
  while (faults.length < maxFaults) {
    const blocks = scanBlocks(text);
    if (blocks instanceof FileFault) return { program: undefined, faults: [...faults, blocks] };

    try {
      return { program: Handlebars.parse(text), faults };
    } catch (error) {
      const { message, offset } = explainParseError(toError(error), text, blocks);
      faults.push(faultAt(getPosition(text, offset), message));

      const remainder = blankOutTagAt(text, offset, blocks);
      if (remainder === text) break;
      text = remainder;
    }
  }

  return { program: undefined, faults };
}

/** The offsets of the blocks' tags. */
interface BlockOffsets {
  /** The offsets of the blocks that are still open at the end. */
  readonly openBlocks: readonly number[];
  /** The offset of each end tag, by that of the block that it closes. */
  readonly endTags: ReadonlyMap<number, number>;
}

/**
 * Scans the tags of a template before parsing. The depth is limited, because the parser copies its
 * whole stack for each part. So is the number of consecutive blanks, because its search for blank
 * lines is quadratic in them. A fault names the limit.
 */
function scanBlocks(text: string): BlockOffsets | FileFault {
  const nesting = new Nesting();
  const lineStarts = listLineStarts(text);
  let invalidTokenCount = 0;
  lexer.setInput(text);

  let token = readNextToken();
  while (token !== 'EOF' && invalidTokenCount <= MAX_FAULTS) {
    if (token === 'INVALID') invalidTokenCount += 1;

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
  readonly #openBlocks: { readonly offset: number; branchCount: number }[] = [];
  readonly #endTags = new Map<number, number>();
  #branchCount = 0;
  #parenthesisCount = 0;

  addToken(token: string, offset: number): void {
    switch (token) {
      case 'OPEN_BLOCK':
      case 'OPEN_INVERSE':
      case 'OPEN_PARTIAL_BLOCK':
        this.#openBlocks.push({ offset, branchCount: 0 });
        return;
      case 'OPEN_ENDBLOCK':
        return this.#closeBlock(offset);
      case 'INVERSE':
      case 'OPEN_INVERSE_CHAIN':
        return this.#addBranch();
      case 'OPEN_SEXPR':
        this.#parenthesisCount += 1;
        return;
      case 'CLOSE_SEXPR':
        this.#parenthesisCount -= 1;
        return;
      case 'CLOSE':
        this.#parenthesisCount = 0;
        return;
      default:
    }
  }

  /** Explains what is open too often; undefined if nothing is. */
  findFault(): string | undefined {
    const { openBlocks, openParentheses } = BOUNDS;
    if (this.#openBlocks.length + this.#branchCount > openBlocks) {
      return `more than ${openBlocks} blocks and {{else}} branches are open inside each other`;
    }

    if (this.#parenthesisCount > openParentheses) {
      return `more than ${openParentheses} parentheses are open inside each other`;
    }

    return undefined;
  }

  toBlockOffsets(): BlockOffsets {
    return { openBlocks: this.#openBlocks.map(({ offset }) => offset), endTags: this.#endTags };
  }

  #closeBlock(offset: number): void {
    const block = this.#openBlocks.pop();
    if (!block) return;
    this.#endTags.set(block.offset, offset);
    this.#branchCount -= block.branchCount;
  }

  #addBranch(): void {
    const block = this.#openBlocks.at(-1);
    if (!block) return;
    block.branchCount += 1;
    this.#branchCount += 1;
  }
}

/** Returns a fault for too many blanks in a row. */
function findBlanksFault(text: string): FileFault | undefined {
  for (const { 0: blanks, index } of text.matchAll(/\s+/g)) {
    if (blanks.length <= BOUNDS.consecutiveBlanks) continue;

    const { line } = getPosition(text, index);
    return faultAt(
      { line, column: 1 },
      `there are more than ${BOUNDS.consecutiveBlanks} blanks in a row`,
    );
  }
  return undefined;
}

/** A fault with the offset of its place. */
interface Explanation {
  readonly message: string;
  readonly offset: number;
}

/** An error of Handlebars; it has a position unless it is a syntax error. */
type ParseError = Error & { lineNumber?: number; column?: number };

/**
 * Explains a parse error by its place. Handlebars' own message lists every token that it would have
 * accepted.
 */
function explainParseError(
  error: ParseError,
  text: string,
  { openBlocks }: BlockOffsets,
): Explanation {
  const { message, lineNumber, column = 0 } = error;
  const lineStarts = listLineStarts(text);
  if (lineNumber !== undefined) {
    const offset = (lineStarts[lineNumber - 1] ?? 0) + column;
    const [problem = '', endName] = message.replace(/ - \d+:\d+$/, '').split(" doesn't match ");
    if (endName === undefined) return { message: problem, offset };
    return { message: `\`${problem}\` is not ended by {{/${endName}}}`, offset };
  }

  const { first_line, first_column } = lexer.yylloc;
  const offset = (lineStarts[first_line - 1] ?? 0) + first_column;
  const [, token = ''] = /got '(\w+)'$/u.exec(message) ?? [];
  if (token === 'EOF' && message.includes('OPEN_ENDBLOCK')) {
    return { message: 'this block is never closed', offset: openBlocks.at(-1) ?? offset };
  }

  return explainToken(token, text, offset);
}

/** Explains a token that is not allowed at its place. */
function explainToken(token: string, text: string, offset: number): Explanation {
  if (token === 'CLOSE_UNESCAPED' || token === 'CLOSE_RAW_BLOCK') {
    const message = '`}}}` ends only `{{{`: before a literal brace, write {{name~}} }';
    return { message, offset: Math.max(0, text.lastIndexOf('{{', offset)) };
  }

  if (text[offset] === '|') {
    return { message: "`|` is a filter of Jinja, which prompt files don't have", offset };
  }

  const unclosedOffset = text.startsWith('{{!--', offset) ? offset : findUnclosedTag(text, offset);
  if (unclosedOffset !== undefined) {
    return { message: 'this tag is never closed', offset: unclosedOffset };
  }

  const [tag] = /^\{\{[^{}\n]*\}\}/.exec(text.slice(offset)) ?? [];
  const subject = tag === undefined ? 'this tag' : `\`${tag}\``;
  if (token === 'OPEN_ENDBLOCK') {
    return { message: `${subject} ends a block that was never opened`, offset };
  }

  if (token === 'INVERSE' || token === 'OPEN_INVERSE_CHAIN') {
    return { message: `${subject} is not inside a block`, offset };
  }

  if (token === 'CLOSE') {
    return { message: 'this tag is empty, or its last part has no value', offset };
  }

  return explainOperator(text, offset);
}

/** Explains an operator, which no tag may have. */
function explainOperator(text: string, offset: number): Explanation {
  // The lexer takes the first `=` of `a == b` for one between a key and its value.
  const start = text[offset] === '=' && text[offset - 1] === '=' ? offset - 1 : offset;
  const [operator] = OPERATOR.exec(text.slice(start, start + 3)) ?? [];
  if (operator === undefined) return { message: explainTag(text, offset), offset };

  const message = `\`${operator}\` isn't allowed in a tag: a template doesn't calculate, and only {{#ifEquals a b}} and {{#unlessEquals a b}} compare`;
  return { message, offset: start };
}

/** Explains an unreadable tag; one of Go's templates by its language. */
function explainTag(text: string, offset: number): string {
  const [tag, name] = GO_TAG.exec(text.slice(text.lastIndexOf('{{', offset))) ?? [];
  if (tag === undefined) return "the template can't be read here";

  return `\`${tag}\` is a tag of Go's templates, which prompt files don't have: write {{${name}}}`;
}

/** Finds the start of the tag around a place; undefined if it is closed before the next tag. */
function findUnclosedTag(text: string, offset: number): number | undefined {
  const start = offset > 0 ? text.lastIndexOf('{{', offset - 1) : -1;
  if (start < 0) return undefined;

  const end = text.indexOf('}}', start);
  const nextStart = text.indexOf('{{', start + 2);
  const isUnclosed = end < 0 || (nextStart >= 0 && nextStart < end);
  return isUnclosed ? start : undefined;
}

/** Replaces the tag around a place with blanks, and the end tag too if it opens a block. */
function blankOutTagAt(text: string, offset: number, { endTags }: BlockOffsets): string {
  const start = text.lastIndexOf('{{', offset + 1);
  if (start < 0) return text;

  const blankedText = blankOutTag(text, start, Math.max(offset, start + 2));
  const endTag = endTags.get(start);
  return endTag === undefined ? blankedText : blankOutTag(blankedText, endTag, endTag + 2);
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

function getPosition(text: string, offset: number): FilePosition {
  const before = text.slice(0, offset).split('\n');
  return { line: before.length, column: (before.at(-1)?.length ?? 0) + 1 };
}
