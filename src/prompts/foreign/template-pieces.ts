import { findRole, HELPERS, type Role } from '../template/syntax.ts';

/** Names that Handlebars would read as keywords. */
const RESERVED_WORDS = new Set(['else', 'this', 'true', 'false', 'null', 'undefined', 'as']);

/**
 * A piece of a foreign prompt: literal text, an input, or a template tag, which may test an input
 * or compare it with a text.
 */
export type Piece =
  | { readonly text: string }
  | { readonly input: string }
  | {
      readonly tag: string;
      readonly testedInput?: string;
      readonly comparedText?: string | undefined;
    };

/**
 * Matches a placeholder of GitHub Models: `{{name}}`, of letters, digits, `_`, `.` and `-`, without
 * blanks.
 */
const PLACEHOLDER = /\{\{([\p{L}\p{N}_.-]+)\}\}/u;

/** A tag for the end of a template that renders nothing and keeps the blanks before it. */
export const END_MARK: Piece = { tag: '{{log ""}}' };

/** A literal brace in a place where `{` would begin a tag. */
const LITERAL_BRACE = '{{lookup "{" 0}}';

/** Splits a text at its placeholders, whose pattern has the name of the input as its only group. */
export function splitAtInputs(text: string, placeholder: RegExp = PLACEHOLDER): Piece[] {
  return text
    .split(placeholder)
    .map((piece, index): Piece => (index % 2 === 1 ? { input: piece } : { text: piece }))
    .filter(piece => !('text' in piece) || piece.text !== '');
}

/**
 * Replaces placeholders by their values, if they have one. Placeholders within a value are not
 * replaced.
 */
export function fillInputs(text: string, values: Readonly<Record<string, string>>): string {
  const getValue = (name: string): string =>
    Object.hasOwn(values, name) ? (values[name] ?? '') : `{{${name}}}`;
  return splitAtInputs(text)
    .map(piece => {
      if ('input' in piece) return getValue(piece.input);
      return 'text' in piece ? piece.text : piece.tag;
    })
    .join('');
}

/** Returns the role for a name in a chat, in any case: system, user or assistant. */
export function findChatRole(name = ''): Role | undefined {
  const lowerCaseName = name.toLowerCase();
  // A role of ours, but not of a chat.
  if (lowerCaseName === 'model') return undefined;
  // OpenAI's models treat both roles alike.
  return lowerCaseName === 'developer' ? 'system' : findRole(lowerCaseName);
}

/** Returns the names of the inputs, each once, in order of appearance. */
export function listInputs(pieces: readonly Piece[]): string[] {
  return [...new Set(pieces.flatMap(piece => ('input' in piece ? [piece.input] : [])))];
}

/** Returns the names of the inputs that tags test. */
export function listTestedInputs(pieces: readonly Piece[]): string[] {
  return [
    ...new Set(
      pieces.flatMap(piece => ('tag' in piece && piece.testedInput ? [piece.testedInput] : [])),
    ),
  ];
}

/**
 * Returns a tag that begins a block, such as `#if`, or a further branch of it.
 *
 * @param keyword what precedes the input, such as `#if` or `else ifEquals`
 */
export function createBlockTag(keyword: string, input: string, comparedText?: string): Piece {
  const argument = comparedText === undefined ? '' : ` "${comparedText}"`;
  return {
    tag: `{{${keyword} ${formatInputTag(input).slice(2, -2)}${argument}}}`,
    testedInput: input,
    comparedText,
  };
}

/** Returns a template that renders exactly these pieces. */
export function formatPieces(pieces: readonly Piece[]): string {
  return pieces
    .map((piece, index) => {
      const next = pieces[index + 1];
      if ('text' in piece) {
        const isBeforeTag = next !== undefined && !('text' in next);
        return escapeBraces(piece.text, { isBeforeTag });
      }
      const tag = 'input' in piece ? formatInputTag(piece.input) : piece.tag;
      // A brace directly after a tag would belong to the tag. `~` drops the blank between them.
      const isBeforeBrace = next !== undefined && 'text' in next && next.text.startsWith('}');
      return isBeforeBrace ? `${tag.slice(0, -2)}~}} ` : tag;
    })
    .join('');
}

/**
 * Returns the tag of an input. A name that is a keyword or has other characters is put after
 * `this`.
 */
function formatInputTag(name: string): string {
  const isPlainName =
    /^[A-Za-z_]\w*$/u.test(name) && !RESERVED_WORDS.has(name) && !Object.hasOwn(HELPERS, name);
  return isPlainName ? `{{${name}}}` : `{{this.[${name}]}}`;
}

/** Escapes braces that would open a tag, and backslashes before a tag. */
function escapeBraces(text: string, { isBeforeTag }: { readonly isBeforeTag: boolean }): string {
  const endsInOpenBrace = isBeforeTag && /(?<!\{)(?:\{\{)*\{$/u.test(text);
  const escapedText = (endsInOpenBrace ? text.slice(0, -1) : text).replaceAll(
    /\\+|\{{2,}/gu,
    (characters, index: number, wholeText: string) => {
      // An empty comment separates literal backslashes from the escaping one.
      if (characters.startsWith('\\')) {
        const isBeforeBraces = wholeText.startsWith('{{', index + characters.length);
        return isBeforeBraces ? `${characters}\\{{!}}` : characters;
      }
      const { length } = characters;
      return '\\{{'.repeat(Math.floor(length / 2)) + (length % 2 === 1 ? '{' : '');
    },
  );
  const escapingBackslash = isBeforeTag && escapedText.endsWith('\\') ? '\\' : '';
  return escapedText + escapingBackslash + (endsInOpenBrace ? LITERAL_BRACE : '');
}
