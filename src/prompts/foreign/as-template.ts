import { HELPERS, type Role, roleNamed } from '../template/syntax.ts';

/** A piece of a foreign prompt: text that means itself, an input, or a tag of a template. */
export type Piece = { readonly text: string } | { readonly input: string } | { readonly tag: string };

/** `{{name}}`, of letters, digits, `_`, `.` and `-`, without blanks: the placeholder of GitHub Models. */
const PLACEHOLDER = /\{\{([\p{L}\p{N}_.-]+)\}\}/u;

/** The placeholders of a text and what stands between them. */
export function piecesOf(text: string, placeholder: RegExp = PLACEHOLDER): Piece[] {
  return text
    .split(placeholder)
    .map((piece, at): Piece => (at % 2 === 1 ? { input: piece } : { text: piece }))
    .filter(piece => !('text' in piece) || piece.text !== '');
}

/** Puts values in place of the placeholders that have one; what a value holds is never a placeholder. */
export function filled(text: string, values: Readonly<Record<string, string>>): string {
  const value = (name: string): string =>
    Object.hasOwn(values, name) ? (values[name] ?? '') : `{{${name}}}`;
  return piecesOf(text)
    .map(piece => ('input' in piece ? value(piece.input) : 'text' in piece ? piece.text : piece.tag))
    .join('');
}

/** The role of a message as chats name it, whatever the case of letters: system, user or assistant. */
export function chatRole(name = ''): Role | undefined {
  const lower = name.toLowerCase();
  return lower === 'model' ? undefined : roleNamed(lower);
}

/** The names of the inputs, each once, in order of appearance. */
export function inputsIn(pieces: readonly Piece[]): string[] {
  return [...new Set(pieces.flatMap(piece => ('input' in piece ? [piece.input] : [])))];
}

/** A template of ours that gives exactly these pieces. */
export function asTemplate(pieces: readonly Piece[]): string {
  return pieces
    .map((piece, at) => {
      const next = pieces[at + 1];
      if ('text' in piece) return escaped(piece.text, next !== undefined && !('text' in next));
      const tag = 'input' in piece ? inputTag(piece.input) : piece.tag;
      const isBeforeBrace = next !== undefined && 'text' in next && next.text.startsWith('}');
      return isBeforeBrace ? `${tag.slice(0, -2)}~}} ` : tag;
    })
    .join('');
}

/** `this` keeps an input from being taken for a word of the language. */
function inputTag(name: string): string {
  const isPlain = /^[A-Za-z_]\w*$/u.test(name) && !WORDS.has(name) && !Object.hasOwn(HELPERS, name);
  return isPlain ? `{{${name}}}` : `{{this.[${name}]}}`;
}

const WORDS = new Set(['else', 'this', 'true', 'false', 'null', 'undefined', 'as']);

/** The last tag of a template: it shows nothing, and keeps the blanks before it. */
export const END: Piece = { tag: '{{log ""}}' };

/** A brace where it would be taken for the beginning of a tag. */
const BRACE = '{{lookup "{" 0}}';

/** Braces that would open a tag get a backslash, and backslashes before a tag one more. */
function escaped(text: string, tagFollows: boolean): string {
  const isOpen = tagFollows && /(?<!\{)(?:\{\{)*\{$/u.test(text);
  const safe = (isOpen ? text.slice(0, -1) : text).replaceAll(
    /\\+|\{{2,}/gu,
    (run, at: number, whole: string) => {
      // An empty comment stands between backslashes that are text and the one that escapes.
      if (run.startsWith('\\')) return whole.startsWith('{{', at + run.length) ? `${run}\\{{!}}` : run;
      return '\\{{'.repeat(Math.floor(run.length / 2)) + (run.length % 2 === 1 ? '{' : '');
    },
  );
  const end = tagFollows && safe.endsWith('\\') ? '\\' : '';
  return safe + end + (isOpen ? BRACE : '');
}
